// The list of found papers: in the order of judgement while a search runs, at its end best first.

import { bars, byId, disclosure, fill, h, langOf } from "./dom.js";
import { showExport } from "./exports.js";
import { has, number, t } from "./i18n.js";
import { markBox } from "./kept.js";
import { paperRow } from "./paper_row.js";
import { byline, hitAddress, isSources, linked } from "./papers.js";
import { showReason } from "./status.js";

/** Link a paper's title to its page here, or for a source to the address in its record. */
function paperLink(paper, place) {
  const title = paper.title || paper.title2 || paper.id;
  const outside = isSources(place) ? { rel: "external noreferrer" } : {};
  return linked(hitAddress({ doc_id: paper.id, url: paper.url }, place), { "data-key": `paper:${paper.id}`, lang: langOf(title, title === paper.title ? paper.lang : undefined), ...outside }, title);
}

/** Show the relevance of a paper as a sign, a number and a word. */
function standing({ score, relevant }) {
  const judged = score !== null && score !== undefined;
  const [name, sign] = relevant ? ["relevant", "✓"] : judged ? ["below", "–"] : ["waiting", "…"];
  return h("span", { class: "standing", "data-standing": name }, h("span", { "aria-hidden": "true" }, sign), " ", judged && h("span", { class: "number" }, number(score, 2)), judged && " ", t(`find_is_${name}`));
}

/** Show a paper on one line: its relevance, link and year. */
export const paperLine = (paper, place) => [standing(paper), " ", paperLink(paper, place), " ", paper.year && h("span", { class: "meta" }, String(paper.year))];

/** Describe how a paper was found; `titleOf(id)` returns the title of another paper. */
function foundBy({ kind, of, rank }, titleOf) {
  const name = kind === "query" ? of : titleOf(of) ?? of;
  return h("li", { "data-found-by": kind }, t(`find_by_${kind}`), " ", h("q", { lang: langOf(name) }, name), " ", h("span", { class: "number" }, t("find_by_rank", { rank })));
}

const SHOWN = 500; // the most that can be requested

/** Append papers that are not in the list yet; nothing else moves. */
export function addPapers(papers, index, titleOf) {
  const list = byId("hits");
  const shown = new Set([...list.children].map((row) => row.dataset.doc));
  const fresh = papers.filter(({ id }) => !shown.has(id)).slice(0, Math.max(0, SHOWN - shown.size));
  list.append(...fresh.map((paper, place) => item({ ...paper, relevance: paper.score }, shown.size + place + 1, index, titleOf)));
}

/** Show the papers of a complete search, best first, with their export. */
export function showPapers(papers, index, titleOf) {
  const list = byId("hits");
  const opened = [...list.querySelectorAll('[aria-expanded="true"]')].map((button) => button.dataset.key);
  fill(list, papers.map((paper, place) => item(paper, place + 1, index, titleOf)));
  list.querySelectorAll("[aria-expanded]").forEach((button) => { if (opened.includes(button.dataset.key)) button.click(); });
  showExport({ hits: papers.map(({ id }) => ({ doc_id: id })), index });
}

function item(paper, rank, index, titleOf) {
  const title = paper.title || paper.title2 || paper.id;
  return paperRow({ ...paper, doc_id: paper.id }, index, {
    rank,
    title,
    heading: h("h3", { class: "title" }, paperLink(paper, index)),
    meta: [byline({ ...paper, found_in: isSources(index) && paper.sources }), paper.cited_by_count > 0 && ` · ${t("find_cited", { n: paper.cited_by_count })}`],
    snippet: h("p", { class: "snippet" }, standing({ score: paper.relevance, relevant: true }), " ", reasonOf(paper)),
    why: disclosure(`▸ ${t("find_why")}`, () => explained(paper, titleOf), { "data-key": `why:${paper.id}`, "aria-label": t("find_why_of", { title }) }),
  });
}

/** Show the papers just below the threshold, if fewer than requested are relevant. */
export function showNear(papers = [], index) {
  fill(byId("near"), papers.length > 0 && [h("h3", { id: "near-title" }, t("find_near")), h("p", { class: "quiet" }, t("find_near_about")),
    h("ul", { role: "list", "aria-labelledby": "near-title" }, papers.map((paper) => h("li", { "data-near": paper.id, class: "hit tree-line" },
      paperLine({ ...paper, score: paper.relevance }, index), paper.reason && h("p", { class: "quiet reason" }, showReason(paper.reason, paper.reason_code)),
      h("div", { class: "actions" }, markBox(index, paper.id, paper.title, t("mark"), paper.url)))))]);
}

/** The model's reason for a paper's rank; rules only repeat the short reason of its relevance. */
function reasonOf({ why = "", reason = "", reason_code: code }) {
  const ruled = !why || why.toLowerCase().startsWith(reason.toLowerCase());
  const text = ruled ? reason : why;
  return text && showReason(text, ruled ? code : undefined);
}

function explained({ score, relevance, authority, timeliness, reason, reason_code: code, why, judged_by: by, parts = {}, found_by: ways }, titleOf) {
  const weighed = [["relevance", relevance], ["authority", authority], ["timeliness", timeliness]].filter(([, value]) => typeof value === "number");
  const judged = Object.entries(parts).filter(([, value]) => typeof value === "number");
  const name = (part) => (has(`find_part_${part}`) ? t(`find_part_${part}`) : part);
  return h("div", { class: "inset", "data-account": true },
    authority !== undefined && h("p", {}, t("find_score", { score: number(score, 2) })),
    bars(weighed.map(([part, value]) => [name(part), value]), 2, 1),
    reason && reason !== why && h("p", { lang: langOf(reason) }, showReason(reason, code)),
    by && h("p", { class: "quiet" }, has(`find_judge_${by}`) ? t(`find_judge_${by}`) : t("find_judged_by", { name: by }),
      judged.length > 1 && ` (${judged.map(([part, value]) => `${name(part)} ${number(value, 2)}`).join(", ")})`),
    h("h4", { class: "quiet" }, t("find_ways")),
    h("ul", {}, [ways].flat().map((way) => foundBy(way, titleOf))));
}
