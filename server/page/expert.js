// The expert field: a form that writes its expressions, its syntax help, and errors below the word concerned.

import { byId, fill, h, style } from "./dom.js";
import { growQuestion } from "./frame.js";
import { learn, t } from "./i18n.js";
import { showNote } from "./status.js";

const IN = ["", "title", "author", "journal", "type"]; // "": all of the text
const WHOLE = new Set(["author", "journal", "type"]); // matched as a whole, as spelled in the record
const PLAIN = /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u;
const OPERATORS = ["AND", "OR", "NOT"];
const FIRST_ROWS = 3;

/** Fill `place` with the form; `write(expression)` receives the expression after each change. */
function showBooleanForm(place, write) {
  const rows = [];
  const list = h("ol", { class: "boolean-rows" });
  const changed = () => write(expression(rows.map(({ operator, field, match, text }) => ({ operator: operator.value, field: field.value, match: match.value, text: text.value }))));
  function add() {
    const number = String(rows.length + 1);
    const select = (name, values, label) => h("select", { "aria-label": t(`form_${name}`, { n: number }), onchange: changed }, values.map((value) => h("option", { value }, t(label(value)))));
    const row = {
      operator: select("operator", OPERATORS, (value) => `form_${value.toLowerCase()}`),
      field: select("field", IN, (value) => `form_in_${value || "text"}`),
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

await Promise.all([learn("expert"), style("expert.css")]);

const SYNTAX = [
  ["a AND b", "both"], ["a OR b", "either"], ["a NOT b", "without"], ["a b", "side_by_side"], ["+a b", "must"],
  ['"a b"', "phrase"], ['"a b"~3', "near"], ["a^2", "boost"], ["( … )", "group"],
];
const FIELDS = [
  ["title: 제목:", "title"], ["text: 초록:", "text"], ["year: 연도:", "year"], ["lang: 언어:", "lang"], ["journal: 학술지:", "journal"], ["author: 저자:", "author"], ["type: 유형:", "type"], ["id:", "id"],
];

/** Switch the field to expressions, with a form that writes them, or back to questions; `chosen` by the reader just now. */
export function showExpert(on, chosen) {
  document.body.classList.toggle("expert-mode", on);
  byId("expert").setAttribute("aria-pressed", String(on));
  byId("question").placeholder = on ? t("expert_placeholder") : t("question_placeholder");
  const help = byId("expert-help");
  help.hidden = !on;
  byId("boolean-form").hidden = !on;
  if (on && !help.hasChildNodes()) build(help);
  // Not if the reader went on in the meantime; Safari does not focus a clicked button.
  if (on && chosen && [byId("expert"), document.body].includes(document.activeElement)) byId("boolean-form").querySelector("input").focus();
}

function build(help) {
  showBooleanForm(byId("boolean-form"), (text) => { byId("question").value = text; growQuestion(); });
  const table = (rows, kind) => h("table", {}, h("tbody", {}, rows.map(([code, key]) => h("tr", {}, h("th", { scope: "row" }, code.split(/ (?=\S+:)/).map((each) => [h("code", {}, each), " "])), h("td", {}, t(`${kind}_${key}`))))));
  fill(help, h("summary", {}, t("syntax")), h("div", { class: "two" }, table(SYNTAX, "syntax"), table(FIELDS, "field")),
    h("p", { class: "quiet" }, t("expert_example"), " ", h("code", {}, '제목:"고체 전해질" AND (moisture OR 수분) NOT 나트륨 year:2015..2024')));
}

/** Show an error of an expression below the word concerned. */
export function showExpressionError(problem, expression) {
  const points = Array.from(expression);
  const start = Math.min(problem.position ?? 0, points.length);
  let end = start;
  while (end < points.length && !/\s/.test(points[end])) end += 1;
  const offending = points.slice(start, end).join("") || "⌴";
  byId("question").setAttribute("aria-invalid", "true");
  fill(byId("expression-error"),
    h("pre", {}, points.slice(0, start).join(""), h("mark", { "data-position": problem.position }, offending), points.slice(end).join("")),
    h("p", { class: "error" }, t("expression_error", { word: offending }), " ", showNote(problem.detail, problem.note)));
  const field = byId("question");
  const units = points.slice(0, start).join("").length;
  field.focus();
  field.setSelectionRange(units, units + (end > start ? offending.length : 0));
}
