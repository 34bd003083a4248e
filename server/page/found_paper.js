// One paper of a search for papers: where it leads, how it was judged, how it was found.

import { h, langOf } from "./dom.js";
import { number, t } from "./i18n.js";
import { hitAddress, isSources, linked } from "./places.js";

/** Link a paper's title to its page here, of a source to where that has it. */
export function paperLink(paper, place) {
  const title = paper.title || paper.title2 || paper.id;
  const outside = isSources(place) ? { rel: "external noreferrer" } : {};
  return linked(hitAddress({ doc_id: paper.id, url: paper.url }, place), { "data-key": `paper:${paper.id}`, lang: langOf(title, title === paper.title ? paper.lang : undefined), ...outside }, title);
}

/** Say how a paper was judged, by sign, number and word. */
export function standing({ score, relevant }) {
  const judged = score !== null && score !== undefined;
  const [name, sign] = relevant ? ["relevant", "✓"] : judged ? ["below", "–"] : ["waiting", "…"];
  return h("span", { class: "standing", "data-standing": name }, h("span", { "aria-hidden": "true" }, sign), " ", judged && h("span", { class: "number" }, number(score, 2)), judged && " ", t(`find_is_${name}`));
}

/** Show a paper in a line: how it was judged, where it leads, its year. */
export const paperLine = (paper, place) => [standing(paper), " ", paperLink(paper, place), " ", paper.year && h("span", { class: "meta" }, String(paper.year))];

/** Say by what a paper was found; `titleOf(id)` names another paper. */
export function foundBy({ kind, of, rank }, titleOf) {
  const name = kind === "query" ? of : titleOf(of) ?? of;
  return h("li", { "data-found-by": kind }, t(`find_by_${kind}`), " ", h("q", { lang: langOf(name) }, name), " ", h("span", { class: "number" }, t("find_by_rank", { rank })));
}
