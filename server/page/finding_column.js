// The column of a search for papers: its cost, the interpreted question, queries, notes, its end, and kept searches.

import { query } from "./api.js";
import { byId, fill, h, langOf } from "./dom.js";
import { BUDGET, EXTENT } from "./finding_asked.js";
import { has, number, t } from "./i18n.js";
import { listNotes, showNote } from "./status.js";

const pairs = (rows) => h("dl", { class: "pairs" }, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", { class: "number" }, value)]));

/** Show the cost next to its limits. */
export function showSpent({ calls = 0, tokens = 0, seconds = 0, papers = 0, relevant, known }, asked) {
  const of = (spent, most, digits = 0) => (most === "" ? number(spent, digits) : t("find_of", { spent: number(spent, digits), most: number(Number(most)) }));
  fill(byId("spent"), h("h3", {}, t("find_spent")), pairs([
    [t("find_known"), known !== undefined && number(known)],
    [t("find_was_judged"), of(papers, asked.max_papers)],
    [t("find_relevant"), relevant !== undefined && number(relevant)],
    [t("find_calls"), (calls > 0 || asked.max_calls !== "") && of(calls, asked.max_calls)],
    [t("find_tokens"), (tokens > 0 || asked.max_tokens !== "") && of(tokens, asked.max_tokens)],
    [t("find_seconds"), of(seconds, asked.max_seconds, 1)],
  ]));
}

/** Show the interpreted question; the queries follow below. */
export function showUnderstanding({ intent, domain, first_year: first, last_year: last, recent, sources = [], sources_reason: whySources, expands, expansion_reason: why, by }) {
  const years = first || last ? (first === last ? String(first) : `${first ?? ""}–${last ?? ""}`) : recent ? t("find_recent") : t("find_any_year");
  fill(byId("understanding"), h("h3", {}, t("find_understood")), pairs([
    [t("find_intent"), has(`find_intent_${intent}`) ? t(`find_intent_${intent}`) : intent],
    [t("find_domain"), domain && h("span", { lang: langOf(domain) }, domain)],
    [t("find_years"), years],
    [t("find_sources"), sources.length > 0 && sources.join(", ")],
    [t("find_sources_why"), whySources && h("span", { lang: langOf(whySources) }, whySources)],
    [t("find_widened"), [expands ? t("yes") : t("no"), why && [": ", by === "model" ? h("span", { lang: langOf(why) }, why) : t(`find_widened_${intent}`)]]],
    [t("find_understood_by"), has(`find_by_${by}`) ? t(`find_by_${by}`) : by],
  ]), h("div", { id: "queries" }));
}

/** Show the queries, each with its kind and its number of papers. */
export function showQueries(queries) {
  const place = byId("queries");
  if (!place || !queries.size) return;
  fill(place, h("h3", {}, t("queries")), h("ul", { class: "asked-queries" }, [...queries.values()].map(({ text, kind, found }) => h("li", { "data-asked": text },
    h("span", { class: "badge" }, t(`find_query_${kind}`)), " ", h("span", { lang: langOf(text) }, text), " ",
    h("span", { class: "meta" }, found === null ? t("find_not_sent") : t("papers", { n: found }))))));
}

/** Show notes for the reader. */
export function showNotes(notes = [], codes = []) {
  fill(byId("notes"), notes.length > 0 && [h("h3", {}, t("find_notes")), listNotes(notes, codes)]);
}

/** Describe the end; `goOn(further)` continues the search, `failure` describes an error. */
export function showEnding(record, asked, goOn, failure) {
  const { papers, complete, known, how, id, notes = [], note_codes: codes = [] } = record;
  const broken = failure || how === "stopped" || !complete;
  const none = !papers.length && (known > 0 ? t("find_none", { n: known }) : t("find_nothing"));
  const folded = broken && BUDGET.every((name) => asked[name] === "");
  const form = id && goingOn(further(asked, record), goOn, folded);
  if (!broken && !none) return fill(byId("ending"), form && h("details", { "data-further": true }, h("summary", {}, t("find_further")), form));
  const said = !failure && broken && t(how === "stopped" ? "find_stopped" : "find_incomplete");
  return fill(byId("ending"), h("div", { class: "box", role: "group", "data-ending": !broken ? "none" : failure ? "failed" : how },
    failure,
    failure && id && papers.length > 0 && h("p", {}, t("find_failed")),
    said && h("p", {}, h("b", {}, said)),
    broken && notes.map((text, at) => codes[at]?.code.startsWith("ended_") && h("p", { class: "quiet" }, showNote(text, codes[at]))),
    none && h("p", {}, broken ? none : h("b", {}, none)),
    none && !broken && h("p", { class: "quiet" }, t("find_advice")),
    form || (broken && h("p", { class: "quiet" }, t("find_not_kept")))));
}

/** The limits for continuing: the old budget in addition to the cost so far; after a complete search more of the exhausted limit. */
function further(asked, { complete, spent = {}, relevant, queries = [] }) {
  const next = { ...asked };
  for (const name of BUDGET) if (asked[name] !== "") next[name] += Math.ceil(spent[name.slice(4)] ?? 0);
  if (!complete) return next;
  const rounds = Math.max(0, ...queries.map(({ round }) => round));
  if (relevant >= asked.papers) next.papers += asked.papers;
  else if (rounds >= asked.rounds) next.rounds += 1;
  else next.layers += 1; // another round would find nothing new
  return next;
}

/** A form like the one above for the next step; its numbers are collapsed unless one of them ended the search. */
function goingOn(next, goOn, folded) {
  const fields = [...EXTENT, ...BUDGET].map((name) => {
    const like = byId(name);
    const field = like.cloneNode();
    field.removeAttribute("id");
    Object.assign(field, { name, required: EXTENT.includes(name), value: next[name] === "" ? "" : Math.min(next[name], like.max) });
    return [field, h("label", {}, like.labels[0].textContent.trim(), field)];
  });
  const begin = (event) => {
    event.preventDefault();
    goOn(Object.fromEntries(fields.map(([{ name, value }]) => [name, value === "" ? "" : Number(value)])));
  };
  const numbers = h("div", { class: "numbers" }, fields.map(([, label]) => label));
  return h("form", { class: "going-on", onsubmit: begin, "aria-label": t("find_go_on") },
    folded ? h("details", {}, h("summary", {}, t("find_bounds")), numbers) : numbers, h("button", { class: "primary", "data-key": "go-on" }, t("find_go_on")));
}

/** Before a search: show the search of the address, and offer the papers found before the page was left. */
export function offerKept(asked, id) {
  fill(byId("offer"),
    asked.question && h("p", {}, t("find_ready")),
    id && h("p", { "data-offer": id }, t("find_left"), " ", h("a", { href: `/find?${query({ search: id })}` }, t("find_open"))));
}
