// A native modal dialog, closed by Esc; the focus returns to the element that opened it.

import { byId, h } from "./dom.js";
import { t } from "./i18n.js";

/** Open a dialog with a title; `content` receives the function that closes it. */
export function openDialog(title, content) {
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" });
  const close = () => dialog.close();
  dialog.append(
    h("header", {}, h("h2", { id: "dialog-title" }, title), h("button", { type: "button", onclick: close }, t("close"))),
    ...[content(close)].flat());
  dialog.addEventListener("close", () => dialog.remove());
  byId("dialogs").append(dialog);
  dialog.showModal();
  return dialog;
}
