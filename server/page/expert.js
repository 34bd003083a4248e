// The expert field: its syntax help, and errors below the word concerned.

import { showBooleanForm } from "./boolean_form.js";
import { byId, fill, h, style } from "./dom.js";
import { learn, t } from "./i18n.js";
import { growQuestion } from "./question_field.js";
import { showNote } from "./notes.js";

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
