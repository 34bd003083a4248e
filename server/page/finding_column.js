// The column of a search for papers: its cost, the interpreted question, the queries, notes.

import { byId, fill, h, langOf } from "./dom.js";
import { has, number, t } from "./i18n.js";
import { listNotes } from "./notes.js";

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
