// Exclusions and years of the question, and the filters, as removable tags.

import { byId, fill, h } from "./dom.js";
import { nameOfType } from "./facets.js";
import { t } from "./i18n.js";

/** Show the constraints and filters; `change(part)` is called with the changed part of the search. */
export function showConstraints(result, asked, change) {
  const found = result.constraints ?? { exclusions: [], years: [] };
  const fromQuestion = ({ end }) => end > 0;
  const tags = [];
  for (const exclusion of found.exclusions) {
    const part = fromQuestion(exclusion)
      ? { question: without(asked.question, exclusion), keywords: null }
      : { exclude: asked.exclude.filter((text) => text.normalize("NFC").trim() !== exclusion.text) };
    tags.push(tag(t("not"), exclusion.text, part));
  }
  for (const years of found.years) {
    const range = `${years.first ?? ""}–${years.last ?? ""}`;
    tags.push(tag(t("years"), range, { question: without(asked.question, years), keywords: null }));
  }
  if (asked.strict_time) tags.push(tag("", t("strict_time"), { strict_time: false }));
  if (!asked.constraints) tags.push(tag("", t("literal"), { constraints: true }));
  if (asked.year) tags.push(tag(t("year"), asked.year.replace("..", "–"), { year: "" }));
  if (asked.lang) tags.push(tag(t("language"), t(`lang_${asked.lang}`), { lang: "" }));
  if (asked.journal) tags.push(tag(t("journal"), asked.journal, { journal: "" }));
  if (asked.author) tags.push(tag(t("author"), asked.author, { author: "" }));
  if (asked.type) tags.push(tag(t("type"), nameOfType(asked.type), { type: "" }));
  fill(byId("constraints"), tags.length > 0 && h("ul", { "aria-label": t("limits") }, tags));

  function tag(kind, text, part) {
    const name = kind ? `${kind}: ${text}` : text;
    return h("li", { class: "tag", "data-constraint": name }, name,
      h("button", { type: "button", class: "icon", "aria-label": t("drop", { name }), "data-key": `drop:${name}`, onclick: () => change(part, t("dropped", { name })) }, "✕"));
  }
}

/** Remove a constraint's words from the question; offsets count code points of the composed (NFC) text. */
function without(question, { start, end }) {
  const points = Array.from(question.normalize("NFC"));
  const before = points.slice(0, start).join("").replace(/[\s,(]+$/, "");
  const behind = points.slice(end).join("").replace(/^["”\])]?[\s,]*/, "");
  return `${before} ${behind}`.replace(/\s+([?.,])/g, "$1").replace(/\s+/g, " ").trim() || question;
}
