// Facets by year, language, journal, author and type, with counts; each value narrows the search.

import { call } from "./api.js";
import { body } from "./asked.js";
import { byId, fill, h, langOf } from "./dom.js";
import { has, number, t } from "./i18n.js";
import { describe } from "./status.js";

const MOST_BARS = 7; // each wide enough to be pressed

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
  const { year, lang, journal, authors, type } = facets.facets;
  if (![year, lang, journal, authors, type].some((facet) => known(facet).length)) return fill(byId("facets"));
  return fill(byId("facets"),
    years(known(year), asked, change),
    Object.entries({ lang, journal, author: authors, type }).map(([name, facet]) => values(name, known(facet), asked[name], (value) => change({ [name]: value }), facet.others)));
}

/** The name of a language or a type of publication (CSL's types); other values are as in the record. */
export const nameOf = (facet, value) => (has(`${facet}_${value}`) ? t(`${facet}_${value}`) : value);

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
  return h("div", { "data-facet": "year" }, h("h3", {}, t("year")), h("div", { class: "years", "--count": bars.length }, bars.map((bar) => {
      const label = t("facet_value", { value: written(bar).replace("..", "–"), n: bar.count });
      const pressed = asked.year === written(bar);
      return h("button", { type: "button", "--share": (100 * bar.count) / most, title: label, "aria-label": label, "aria-pressed": String(pressed), disabled: !bar.count, "data-key": `year:${bar.from}`, onclick: () => change({ year: pressed ? "" : written(bar) }) });
    })),
    first !== last && slider(first, last, asked, change));
}

/** Two handles for the first and the last year; the search is repeated when a handle is released. */
function slider(first, last, asked, change) {
  const [low, high = low] = asked.year.split(/\s*\.\.\s*/);
  const chosen = asked.year ? [Number(low) || first, Number(high) || last] : [first, last];
  const ends = chosen.map(() => h("span", {}));
  const handles = chosen.map((value, end) => {
    const handle = h("input", { type: "range", min: first, max: last, "aria-label": t(end ? "year_to" : "year_from"), "data-key": `years:${end}`, oninput: follow, onchange: send });
    handle.value = value;
    return handle;
  });
  const years = () => handles.map((handle) => Number(handle.value));
  function follow(event) {
    const [from, to] = years();
    if (from > to) event.target.value = event.target === handles[0] ? to : from;
    show();
  }
  function send() {
    const [from, to] = years();
    change({ year: from === first && to === last ? "" : from === to ? String(from) : `${from}..${to}` });
  }
  const show = () => years().forEach((year, end) => { ends[end].textContent = String(year); });
  show();
  return [h("div", { class: "range" }, handles), h("p", { class: "year-ends number", "aria-hidden": "true" }, ends)];
}

function values(name, found, chosen, choose, others) {
  if (!found.length) return h("div");
  return h("div", { "data-facet": name }, h("h3", {}, t(name === "lang" ? "language" : name)),
    h("ul", { class: "facet-values" }, found.map(({ value, papers }) => h("li", {},
      h("button", { type: "button", "aria-pressed": String(value === chosen), "data-key": `${name}:${value}`, onclick: () => choose(value === chosen ? "" : value) },
        h("span", { class: "text", lang: name === "journal" || name === "author" ? langOf(value) : null, title: nameOf(name, value) }, nameOf(name, value)), h("span", { class: "number" }, number(papers))))),
      others > 0 && h("li", { class: "quiet" }, t("other_values", { n: others }))));
}
