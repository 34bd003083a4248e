// The parts of a search: its strategy and filters as chips, the results, facets, and on demand how it was run.

import { call } from "./api.js";
import { RELEVANCE, body } from "./asked.js";
import { byId, fill, h, isComposing, langOf } from "./dom.js";
import { showExport } from "./exports.js";
import { has, number, t } from "./i18n.js";
import { remember } from "./kept.js";
import { askModel, showDetails, showQueries } from "./process.js";
import { showResults } from "./results.js";
import { describe } from "./status.js";
import { showNothing } from "./why.js";

const STEP = 20;
const MOST_HITS = 1000;
const MOST_SORTED = 100; // by year or citations: a longer list would be another selection

/** Show a result; `change(part, said)` repeats the search with one part changed. */
export function showFound(result, asked, { manifest, address, before, change, more, signal }) {
  fill(byId("problem"));
  showQueries(result, asked, (skip, said) => change({ skip }, said));
  showDetails(result, manifest);
  showStrategy(result, asked, manifest, change);
  showResults(result, asked, before);
  showMore(result, asked, more);
  result.hits.length ? fill(byId("nothing")) : showNothing(result, asked, change);
  showExport(result);
  remember(address, { question: asked.question, method: asked.method, index: result.index ?? result.sources?.join(", "), hits: result.hits, version: result.version });
  byId("total").textContent = !result.hits.length ? "" : result.facets ? t("total", { n: result.hits.length, total: result.facets.papers }) : t("papers", { n: result.hits.length });
  result.sources ? fill(byId("facets")) : showFacets(result.facets, asked, change, signal);
}

/** Offer more papers, unless all are listed: a list that is shorter than requested is complete. */
function showMore(result, { k, sort }, more) {
  const most = sort === RELEVANCE ? MOST_HITS : MOST_SORTED;
  const complete = result.hits.length < k || k >= most;
  const next = Math.min(k + STEP, most);
  fill(byId("more"), !complete && h("button", { type: "button", "data-key": "more", onclick: () => more(next) }, t("more", { n: next - k })));
}

/** Clear the columns. */
export function showNone() {
  for (const name of ["hits", "changes", "facets", "nothing", "more", "strategy", "queries", "details", "results-tools", "total", "problem"]) fill(byId(name));
}

// The strategy as chips: keywords by language, exclusions, years; behind them the filters

const LANGUAGES = { ko: "한국어", en: "English" };
let opened = ""; // the keyword whose buttons are shown

/** Show the strategy and the filters of a result; `change(part, said)` repeats the search with one part changed. */
function showStrategy(result, asked, manifest, change) {
  const { strategy } = result;
  const use = (chosen, said) => change({ strategy: chosen, exclude: [], skip: asked.skip.filter((name) => !name.startsWith("SQ")) }, said);
  const edit = (part, said) => use({ ...strategy, ...part, origin: "person" }, said);
  const button = (key, words, sign, onclick, attributes) => h("button", { type: "button", class: "icon", "aria-label": words, "data-key": key, onclick, ...attributes }, sign);
  const plain = (key, onclick) => h("button", { type: "button", class: "plain", "data-key": key, onclick }, t(key));
  fill(byId("strategy"),
    strategy && [h("p", { class: "quiet", "data-origin": strategy.origin }, t(`origin_${strategy.origin}`),
      asked.strategy && plain("restore", () => use(null, t("restored"))),
      manifest?.language_model && strategy.origin !== "model" && plain("ask_model", ({ target }) => askModel(asked, target, use))),
    Object.keys(LANGUAGES).map(keywords), adding()],
    h("ul", { class: "tags", "aria-label": t("limits") }, strategy && conditions(), filters()));

  function keywords(language) {
    const words = strategy[language];
    const chip = (word, at) => {
      const key = `${language}:${word}`;
      const others = words.toSpliced(at, 1);
      const move = (to) => to >= 0 && to < words.length && edit({ [language]: others.toSpliced(to, 0, word) }, t("moved", { word, place: to + 1 }));
      const keys = { ArrowLeft: () => move(at - 1), ArrowRight: () => move(at + 1), Delete: () => edit({ [language]: others }, t("removed", { word })) };
      const onkeydown = (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } };
      const toggle = () => { opened = opened === key ? "" : key; showStrategy(result, asked, manifest, change); };
      const off = (is) => ({ "aria-disabled": is && "true" });
      return h("li", { class: "tag", "data-keyword": word },
        h("button", { type: "button", class: "text", lang: langOf(word, language), title: t("keyword_keys"), "aria-expanded": String(opened === key), "data-key": `word:${key}`, onkeydown, onclick: toggle }, word),
        opened === key && [button(`move_up:${key}`, t("move_up", { word }), "←", keys.ArrowLeft, off(at === 0)), button(`move_down:${key}`, t("move_down", { word }), "→", keys.ArrowRight, off(at === words.length - 1))],
        button(`remove_word:${key}`, t("remove_word", { word }), "✕", keys.Delete));
    };
    return words.length > 0 && [h("span", { class: "quiet", lang: language, "aria-hidden": "true" }, LANGUAGES[language]), h("ol", { class: "chips", "aria-label": LANGUAGES[language] }, words.map(chip))];
  }

  function adding() {
    const onkeydown = (event) => {
      if (event.key !== "Enter" || isComposing(event)) return;
      event.preventDefault();
      const word = event.target.value.trim();
      const language = langOf(word);
      if (word && !strategy[language].includes(word)) edit({ [language]: [word, ...strategy[language]] }, t("added_word", { word })); // first: it matters to the reader
    };
    return h("input", { class: "adding", "aria-label": t("add_keyword"), placeholder: `+ ${t("add_keyword")}`, maxlength: "200", "data-key": "add", onkeydown });
  }

  function conditions() {
    const { exclude, years } = strategy;
    return [exclude.map((each) => tag(t("not"), Object.values(each).join(" · "), { exclude: exclude.filter((other) => other !== each) }, edit)),
      years && tag(t("years"), years.map((year) => year ?? "").join("–"), { years: null }, edit)];
  }

  function filters() {
    const shown = { year: asked.year.replace("..", "–"), lang: asked.lang && nameOf("lang", asked.lang), journal: asked.journal, author: asked.author, type: asked.type && nameOf("type", asked.type) };
    const written = (result.note_codes ?? []).filter((note) => ["fields_only", "phrases_only"].includes(note?.code)); // in the question
    const single = written.flatMap(({ values }) => values.written.match(/(?:NOT )?[a-z]+:"[^"]*"|“[^”]*”/g) ?? []);
    return [!asked.conditions && tag("", t("literal"), { conditions: true }, change),
      single.map((text) => tag("", text, without(text, asked.meant || asked.question), change)),
      Object.entries(shown).map(([name, text]) => text && tag(t(name === "lang" ? "language" : name), text, { [name]: "" }, change))];
  }

  function tag(kind, text, part, drop) {
    const name = kind ? `${kind}: ${text}` : text;
    return h("li", { class: "tag", "data-condition": name }, name, button(`drop:${name}`, t("drop", { name }), "✕", () => drop(part, t("dropped", { name }))));
  }
}

/** The change that removes a condition from the question: a field with its value, or the quotation marks of a phrase. */
function without(condition, question) {
  const [, field, value] = /([a-z]*):?["“]([^]*)["”]$/.exec(condition);
  const written = value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const rest = field ? question.replace(new RegExp(`(?:-|NOT\\s+)?[^\\s:：]+[:：]["“]?${written}["”]?`), "") : question.replace(new RegExp(`["“”「『]${written}["“”」』]`), value);
  return rest !== question && rest.trim() ? { question: rest.trim() } : { conditions: false };
}

// Facets by year, language, journal, author and type, with counts; each value narrows the search

const MOST_BARS = 7; // each wide enough to be pressed

/** Show the facets of a search, or count them if it has none; `change(part)` adds or removes a filter. */
async function showFacets(counted, asked, change, signal) {
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
const nameOf = (facet, value) => (has(`${facet}_${value}`) ? t(`${facet}_${value}`) : value);

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
