// The visible column on a screen too narrow for several columns.

import { byId } from "./dom.js";

const buttons = () => document.querySelectorAll("[data-show]");

/** Show a column by its id. */
export function view(name) {
  document.body.dataset.view = name;
  buttons().forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === name)));
}

/** Enable the buttons that choose a column. */
export function openViews() {
  buttons().forEach((button) => button.addEventListener("click", () => { view(button.dataset.show); byId(button.dataset.show).focus(); }));
}
