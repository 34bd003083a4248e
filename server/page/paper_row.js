// The row of a paper in a list, with what literature managers read.

import { disclosure, h } from "./dom.js";
import { citing } from "./exports.js";
import { number, t } from "./i18n.js";
import { markBox } from "./kept.js";
import { isSources } from "./papers.js";

/**
 * Create the row of a paper in a list: its parts, what a literature manager reads, a citation, and a mark.
 * `why` is a disclosure of reasons; `behind` follows the actions.
 */
export function paperRow(paper, place, { rank, title, heading, meta, snippet, why, behind, ...attributes }) {
  const ofIndex = !isSources(place);
  const [cite, reference] = disclosure(`▸ ${t("cite")}`, () => citing(paper, place), { "data-key": `cite:${paper.doc_id}`, "aria-label": t("cite_of", { title }) });
  return h("li", { "data-doc": paper.doc_id, ...attributes },
    h("span", { class: "rank number" }, number(rank)),
    h("article", { class: "hit" }, heading, h("p", { class: "meta" }, meta), snippet,
      h("span", { class: "Z3988", title: paper.coins ?? coins(paper) }),
      ofIndex && h("abbr", { class: "unapi-id", title: unapiId(paper.doc_id, place) }),
      h("div", { class: "actions" }, why?.[0], cite, markBox(place, paper.doc_id, title, t("mark"), paper.url), behind),
      h("div", { class: "inset-place" }, why?.[1], reference)));
}

/** A paper as a ContextObject (Z39.88-2004, journal article) for literature managers. */
function coins({ title, authors = [], journal, year, doi }) {
  const pairs = [["ctx_ver", "Z39.88-2004"], ["rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"], ["rft.genre", journal ? "article" : "unknown"],
    ["rft.atitle", title], ["rft.jtitle", journal], ["rft.date", year], ...authors.slice(0, 100).map((name) => ["rft.au", name]), ["rft_id", doi && `info:doi/${doi}`]];
  return pairs.filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** The id of a paper in unAPI. Zotero puts it into an address as it is, so it is encoded. */
function unapiId(docId, index) {
  return `${encodeURIComponent(index)}/${encodeURIComponent(docId)}`;
}
