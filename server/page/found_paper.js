// One paper of a search for papers: where it leads, how it was judged, how it was found.

import { h, langOf } from "./dom.js";
import { number, t } from "./i18n.js";
import { paperAddress } from "./papers.js";

/** The id of a paper in an index, undefined where it is of another source. */
export function idInIndex({ id, sources }, index) {
  return index ? (sources ? sources.find(({ source }) => source === index)?.id : id) : undefined;
}

/** Link a paper's title to its own page, else to where its source has it. */
export function paperLink(paper, index) {
  const title = paper.title || paper.title2 || paper.id;
  const own = idInIndex(paper, index);
  const lang = langOf(title, title === paper.title ? paper.lang : undefined);
  const outside = paper.doi ? `https://doi.org/${encodeURI(paper.doi)}` : /^https?:/.test(paper.url ?? "") && paper.url;
  if (own !== undefined) return h("a", { href: paperAddress(own, index), lang }, title);
  return outside ? h("a", { href: outside, rel: "external noreferrer", lang }, title) : h("span", { lang }, title);
}

/** Say how a paper was judged, by sign, number and word. */
export function standing({ score, relevant }) {
  const judged = score !== null && score !== undefined;
  const [name, sign] = relevant ? ["relevant", "✓"] : judged ? ["below", "–"] : ["waiting", "…"];
  return h("span", { class: "standing", "data-standing": name }, `${sign} `, judged && h("span", { class: "number" }, number(score, 2)), judged && " ", t(`find_is_${name}`));
}

/** Say by what a paper was found; `titleOf(id)` names another paper. */
export function foundBy({ kind, of, rank }, titleOf) {
  const name = kind === "query" ? of : titleOf(of) ?? of;
  return h("li", { "data-found-by": kind }, t(`find_by_${kind}`), " ", h("q", { lang: langOf(name) }, name), " ", h("span", { class: "number" }, t("find_by_rank", { rank })));
}
