// A paper in a list, and the target of a search: an index, or sources, as `source:NAME,NAME`.

import { h } from "./dom.js";
import { t } from "./i18n.js";

/** The address of a paper's page, or of a passage on it. Slashes of an id are escaped as %2F: a browser turns `a/../b` into `b`. */
function paperAddress(docId, index, passageId) {
  return `/papers/${encodeURIComponent(docId)}?index=${encodeURIComponent(index)}${passageId ? `#${encodeURIComponent(passageId)}` : ""}`;
}

/** Authors, year and journal on a line, with sources, duplicates, and other papers of the same DOI. */
export function byline({ authors, year, journal, lang, doc_id: id, found_in: found, folded, same_doi: others, title_only: titleOnly }) {
  const names = authors?.length > 3 ? t("and_others", { names: authors.slice(0, 2).join(", "), n: authors.length - 2 }) : authors?.join(", ");
  return [names, year && String(year), journal, lang === "other" ? "" : lang && t(`lang_${lang}`), !names && !journal && id, found && t("found_in", { names: [...new Set(found.map(({ source }) => source))].join(", ") }), titleOnly && t("title_only"), folded && t("folded", { n: folded }), others && t("same_doi", { names: others.join(", ") })].filter(Boolean).join(" · ");
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
