// The citation styles: their menu, and the reader's last choice.

import { h } from "./dom.js";
import { language, learn, t } from "./i18n.js";

await learn("citing");

const STYLES = { apa: "APA 7", chicago: "Chicago", ieee: "IEEE", korean: t("style_korean"), mla: "MLA 9", vancouver: "Vancouver" };

let style = language === "ko" ? "korean" : "apa";

/** The style chosen last in any menu. */
export const chosenStyle = () => style;

/** Create a menu of the styles; `changed` is called after a choice. */
export function styleMenu(changed = () => {}) {
  const select = h("select", { "aria-label": t("style"), "data-styles": true, onchange: () => { style = select.value; changed(); } },
    Object.entries(STYLES).map(([value, name]) => h("option", { value }, name)));
  select.value = style;
  return select;
}
