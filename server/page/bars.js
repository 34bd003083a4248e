// Values as bars, each with its name and number.

import { h, langOf } from "./dom.js";
import { number } from "./i18n.js";

/** Show [name, value] pairs as bars; the longest is the greatest value, or `most`. */
export function bars(rows, digits = 4, most = Math.max(...rows.map(([, value]) => Math.abs(value)), 0.0001)) {
  return h("div", { class: "parts" }, rows.map(([name, value]) => [
    h("span", { lang: typeof name === "string" ? null : langOf(name.join("")) }, name),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: value < 0 ? "fill less" : "fill", "--share": (100 * Math.abs(value)) / most })),
    h("span", { class: "number" }, number(value, digits)),
  ]));
}
