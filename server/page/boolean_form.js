// A form of rows that writes an expression of the expert language.

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";

const FIELDS = ["", "title", "author", "journal", "type"]; // "": all of the text
const WHOLE = new Set(["author", "journal", "type"]); // matched as a whole, as spelled in the record
const PLAIN = /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u;
const OPERATORS = ["AND", "OR", "NOT"];
const FIRST_ROWS = 3;

/** Fill `place` with the form; `write(expression)` receives the expression after each change. */
export function showBooleanForm(place, write) {
  const rows = [];
  const list = h("ol", { class: "boolean-rows" });
  const changed = () => write(expression(rows.map(({ operator, field, match, text }) => ({ operator: operator.value, field: field.value, match: match.value, text: text.value }))));
  function add() {
    const number = String(rows.length + 1);
    const select = (name, values, label) => h("select", { "aria-label": t(`form_${name}`, { n: number }), onchange: changed }, values.map((value) => h("option", { value }, t(label(value)))));
    const row = {
      operator: select("operator", OPERATORS, (value) => `form_${value.toLowerCase()}`),
      field: select("field", FIELDS, (value) => `form_in_${value || "text"}`),
      match: select("match", ["all", "any", "phrase"], (value) => `form_${value}`),
      text: h("input", { "aria-label": t("form_words", { n: number }), maxlength: "500", oninput: changed }),
    };
    row.operator.hidden = rows.length === 0;
    row.field.addEventListener("change", () => { row.match.disabled = WHOLE.has(row.field.value); });
    rows.push(row);
    list.append(h("li", {}, row.operator, row.field, row.text, row.match));
    return row;
  }
  for (let row = 0; row < FIRST_ROWS; row += 1) add();
  fill(place, list, h("button", { type: "button", class: "plain", onclick: () => add().text.focus() }, t("form_add")));
}

/** Join rows from the first to the last; brackets keep this order where the operator changes. */
export function expression(rows) {
  let whole = "";
  let last = "";
  for (const row of rows) {
    const clause = clauseOf(row);
    if (!clause) continue;
    if (!whole) { whole = row.operator === "NOT" ? `NOT ${clause}` : clause; continue; }
    whole = `${last && last !== row.operator ? `(${whole})` : whole} ${row.operator} ${clause}`;
    last = row.operator;
  }
  return whole;
}

function clauseOf({ field, match, text }) {
  const plain = text.replace(/["“”„‟＂「」『』]/g, " ").trim().replace(/\s+/g, " ");
  if (!plain) return "";
  const words = plain.split(" ").map((word) => (PLAIN.test(word) && !OPERATORS.includes(word) ? word : `"${word}"`));
  const phrase = match === "phrase" || WHOLE.has(field);
  const clause = phrase ? `"${plain}"` : words.length === 1 ? words[0] : `(${words.join(match === "all" ? " AND " : " OR ")})`;
  return field ? `${field}:${clause}` : clause;
}
