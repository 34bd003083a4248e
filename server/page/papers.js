// A paper in a list, and the target of a search: an index, or sources, as `source:NAME,NAME`.

import { disclosure, h } from "./dom.js";
import { number, t } from "./i18n.js";
import { markBox } from "./kept.js";

/** The address of a paper's page, or of a passage on it. Slashes of an id are escaped as %2F: a browser turns `a/../b` into `b`. */
function paperAddress(docId, index, passageId) {
  return `/papers/${encodeURIComponent(docId)}?index=${encodeURIComponent(index)}${passageId ? `#${encodeURIComponent(passageId)}` : ""}`;
}

/** Authors, year and journal on a line, with sources, duplicates, and other papers of the same DOI. */
export function byline({ authors, year, journal, lang, doc_id: id, found_in: found, folded, same_doi: others, title_only: titleOnly }) {
  const names = authors?.length > 3 ? t("and_others", { names: authors.slice(0, 2).join(", "), n: authors.length - 2 }) : authors?.join(", ");
  return [names, year && String(year), journal, lang === "other" ? "" : lang && t(`lang_${lang}`), !names && !journal && id, found && t("found_in", { names: [...new Set(found.map(({ source }) => source))].join(", ") }), titleOnly && t("title_only"), folded && t("folded", { n: folded }), others && t("same_doi", { names: others.join(", ") })].filter(Boolean).join(" · ");
}

/**
 * Create the row of a paper in a list: its parts, what a literature manager reads, a citation, and a mark.
 * `why` is a disclosure of reasons; `behind` follows the actions.
 */
export function paperRow(paper, place, { rank, title, heading, meta, snippet, why, behind, ...attributes }) {
  const ofIndex = !isSources(place);
  const [cite, reference] = disclosure(`▸ ${t("cite")}`, async () => (await import("./citing.js")).citing(paper, place), { "data-key": `cite:${paper.doc_id}`, "aria-label": t("cite_of", { title }) });
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

export const SOURCES = "source:";

export const isSources = (place) => place.startsWith(SOURCES);
export const sourcesIn = (place) => (isSources(place) ? place.slice(SOURCES.length).split(",") : []);

/** Return the fields of a call that name the target; none for the default. */
export const partOf = (place) => (isSources(place) ? { sources: sourcesIn(place) } : place ? { index: place } : {});

/** Return the target of a result or an answer; undefined if it names none. */
export const placeOf = ({ index, sources }) => index ?? (sources && `${SOURCES}${sources.join(",")}`);

/** The address of a hit: a page here, at its top or at a passage, or for a paper of a source the address that the server found safe, if any. */
export const hitAddress = (hit, place, passageId) => (isSources(place) ? hit.url : paperAddress(hit.doc_id, place, passageId));

/** A title that links to its paper, if that has an address. */
export const linked = (address, attributes, ...content) =>
  (address ? h("a", { href: address, ...attributes }, ...content) : h("span", attributes, ...content));
