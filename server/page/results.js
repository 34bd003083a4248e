// The results: titles and snippets with marked words, and the differences to an earlier search.

import { call } from "./api.js";
import { body } from "./asked.js";
import { byId, disclosure, fill, h, langOf, marked } from "./dom.js";
import { number, t } from "./i18n.js";
import { judgeHits, judges } from "./judging.js";
import { paperRow } from "./paper_row.js";
import { byline, hitAddress, isSources, linked, placeOf } from "./papers.js";
import { describe } from "./status.js";
import { explanation } from "./why.js";

let evidence = []; // ids of the papers in the answer's evidence

/** Show the hits; `before` are the hits of the edited search, in order, undefined for a new one. */
export function showResults(result, asked, before) {
  const places = before && new Map(before.map((hit, index) => [hit.doc_id, index + 1]));
  fill(byId("changes"), before && changes(result.hits, before));
  fill(byId("hits"), result.hits.map((hit) => item(hit, result, asked, places)));
  showEvidenceBadges(asked.ask ? evidence : []);
  if (judges) judgeHits(byId("hits"), result, asked);
}

function changes(now, before) {
  const ids = new Set(now.map((hit) => hit.doc_id));
  const known = new Set(before.map((hit) => hit.doc_id));
  const came = now.filter((hit) => !known.has(hit.doc_id));
  const went = before.filter((hit) => !ids.has(hit.doc_id));
  const moved = now.some((hit, index) => before[index]?.doc_id !== hit.doc_id);
  if (!came.length && !went.length) return h("p", { class: "changes", "data-came": 0, "data-went": 0 }, moved ? t("only_moved") : t("nothing_changed"));
  const said = t("came_and_went", { came: came.length, went: went.length });
  const counts = { class: "changes", "data-came": came.length, "data-went": went.length };
  if (!went.length) return h("p", counts, said);
  return h("details", counts, h("summary", {}, said), h("p", { class: "quiet" }, t("went")),
    h("ul", {}, went.map((hit) => h("li", { lang: langOf(hit.title, hit.lang) }, hit.title || hit.doc_id))));
}

function item(hit, result, asked, places) {
  const index = placeOf(result) ?? asked.index;
  const lang = langOf(hit.title, hit.lang);
  return paperRow(hit, index, {
    rank: hit.rank,
    title: hit.title,
    heading: h("h3", { class: "title", lang }, linked(hitAddress(hit, index), {}, marked(hit.title || hit.doc_id, hit.title_marks))),
    meta: [byline(hit), " ", places && change(places.get(hit.doc_id), hit.rank)],
    snippet: h("p", { class: "snippet", lang }, marked(hit.snippet ?? "", hit.snippet_marks)),
    why: isSources(index) ? undefined : disclosure(`▸ ${t("why")}`, () => explain(hit, asked), { "aria-label": t("why_of", { title: hit.title }) }),
    behind: h("span", { "data-evidence-of": hit.doc_id }),
    "data-passage": hit.passage_id,
  });
}

async function explain(hit, asked) {
  try {
    const account = await call("/api/v1/explain", { body: { ...body(asked), passage_id: hit.passage_id } });
    return explanation(account);
  } catch (error) {
    return describe(error);
  }
}

function change(was, rank) {
  if (!was) return h("span", { class: "came", "data-change": "came" }, `＋ ${t("came")}`);
  if (was === rank) return "";
  return h("span", { class: "came", "data-change": "moved" }, was > rank ? `▲ ${number(was - rank)}` : `▼ ${number(rank - was)}`, h("span", { class: "hidden" }, ` ${t("was_at", { place: was })}`));
}

/** Mark the hits that are evidence of the answer. */
export function showEvidenceBadges(ids) {
  evidence = ids;
  for (const place of document.querySelectorAll("[data-evidence-of]")) {
    const number = ids.indexOf(place.dataset.evidenceOf) + 1;
    fill(place, number > 0 && h("span", { class: "badge evidence-badge" }, t("evidence_number", { n: String(number) })));
  }
}
