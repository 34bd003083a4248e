// A paper of a search for papers: its link, its relevance, and its origin.

import { h, langOf } from "./dom.js";
import { number, t } from "./i18n.js";
import { hitAddress, isSources, linked } from "./places.js";

/** Link a paper's title to its page here, or for a source to the address in its record. */
export function paperLink(paper, place) {
  const title = paper.title || paper.title2 || paper.id;
  const outside = isSources(place) ? { rel: "external noreferrer" } : {};
  return linked(hitAddress({ doc_id: paper.id, url: paper.url }, place), { "data-key": `paper:${paper.id}`, lang: langOf(title, title === paper.title ? paper.lang : undefined), ...outside }, title);
}

/** Show the relevance of a paper as a sign, a number and a word. */
export function standing({ score, relevant }) {
  const judged = score !== null && score !== undefined;
  const [name, sign] = relevant ? ["relevant", "✓"] : judged ? ["below", "–"] : ["waiting", "…"];
  return h("span", { class: "standing", "data-standing": name }, h("span", { "aria-hidden": "true" }, sign), " ", judged && h("span", { class: "number" }, number(score, 2)), judged && " ", t(`find_is_${name}`));
}

/** Show a paper on one line: its relevance, link and year. */
export const paperLine = (paper, place) => [standing(paper), " ", paperLink(paper, place), " ", paper.year && h("span", { class: "meta" }, String(paper.year))];

/** Describe how a paper was found; `titleOf(id)` returns the title of another paper. */
export function foundBy({ kind, of, rank }, titleOf) {
  const name = kind === "query" ? of : titleOf(of) ?? of;
  return h("li", { "data-found-by": kind }, t(`find_by_${kind}`), " ", h("q", { lang: langOf(name) }, name), " ", h("span", { class: "number" }, t("find_by_rank", { rank })));
}
