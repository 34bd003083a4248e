// Of the columns that a narrow screen has no room for beside each other, the one that is shown.

import { byId } from "./dom.js";

const buttons = () => document.querySelectorAll("[data-show]");

/** Show a column by its id. */
export function view(name) {
  document.body.dataset.view = name;
  buttons().forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === name)));
}

/** Make the buttons work that choose a column. */
export function openViews() {
  buttons().forEach((button) => button.addEventListener("click", () => { view(button.dataset.show); byId(button.dataset.show).focus(); }));
}
