// Facets by year, language and journal, with counts; each value narrows the search.

import { call } from "./api.js";
import { body } from "./asked.js";
import { byId, fill, h, langOf } from "./dom.js";
import { has, number, t } from "./i18n.js";
import { describe } from "./status.js";

const MOST_BARS = 30;

/** Show the facets of a search, or count them if it has none; `change(part)` adds or removes a filter. */
export async function showFacets(counted, asked, change, signal) {
  let facets = counted;
  try {
    facets ??= await call("/api/v1/facets", { body: body(asked), signal });
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return undefined;
    return fill(byId("facets"), describe(error, () => showFacets(counted, asked, change, signal)));
  }
  const known = ({ values }) => values.filter(({ value }) => value !== null);
  const { year, lang, journal } = facets.facets;
  if (![year, lang, journal].some((facet) => known(facet).length)) return fill(byId("facets"));
  return fill(byId("facets"),
    years(known(year), asked, change),
    values(t("language"), known(lang), asked.lang, (value) => (has(`lang_${value}`) ? t(`lang_${value}`) : value), (value) => change({ lang: value }), "lang"),
    values(t("journal"), known(journal), asked.journal, (value) => value, (value) => change({ journal: value }), "journal", journal.others));
}

function years(found, asked, change) {
  if (!found.length) return h("div");
  const counts = new Map(found.map(({ value, papers }) => [value, papers]));
  const first = Math.min(...counts.keys());
  const last = Math.max(...counts.keys());
  const step = Math.ceil((last - first + 1) / MOST_BARS);
  const bars = [];
  for (let from = first; from <= last; from += step) {
    const to = Math.min(from + step - 1, last);
    let count = 0;
    for (let year = from; year <= to; year += 1) count += counts.get(year) ?? 0;
    bars.push({ from, to, count });
  }
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const written = ({ from, to }) => (from === to ? String(from) : `${from}..${to}`);
  return h("div", { "data-facet": "year" }, h("h3", {}, t("year")),
    h("div", { class: "years", "--count": bars.length }, bars.map((bar) => {
      const label = t("facet_value", { value: written(bar).replace("..", "–"), n: bar.count });
      const pressed = asked.year === written(bar);
      return h("button", { type: "button", "--share": (100 * bar.count) / most, title: label, "aria-label": label, "aria-pressed": String(pressed), disabled: !bar.count, "data-key": `year:${bar.from}`, onclick: () => change({ year: pressed ? "" : written(bar) }) });
    })),
    h("p", { class: "year-ends number", "aria-hidden": "true", "--count": bars.length }, h("span", {}, String(first)), first !== last && h("span", {}, String(last))));
}

function values(title, found, chosen, label, choose, name, others) {
  if (!found.length) return h("div");
  return h("div", { "data-facet": name }, h("h3", {}, title),
    h("ul", { class: "facet-values" }, found.map(({ value, papers }) => h("li", {},
      h("button", { type: "button", "aria-pressed": String(value === chosen), "data-key": `${name}:${value}`, onclick: () => choose(value === chosen ? "" : value) },
        h("span", { class: "text", lang: name === "journal" ? langOf(value) : null, title: label(value) }, label(value)), h("span", { class: "number" }, number(papers))))),
      others > 0 && h("li", { class: "quiet" }, t("other_journals", { n: others }))));
}
