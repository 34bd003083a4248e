// A paper in a list: its address, its line, and its metadata for literature managers.

import { t } from "./i18n.js";

/** The address of a paper's page, or of a passage on it. Slashes of an id are escaped as %2F: a browser turns `a/../b` into `b`. */
export function paperAddress(docId, index, passageId) {
  return `/papers/${encodeURIComponent(docId)}?index=${encodeURIComponent(index)}${passageId ? `#${encodeURIComponent(passageId)}` : ""}`;
}

/** Authors, year and journal on a line, with sources, duplicates, and other papers of the same DOI. */
export function byline({ authors, year, journal, lang, doc_id: id, found_in: found, folded, same_doi: others, title_only: titleOnly }) {
  const names = authors?.length > 3 ? t("and_others", { names: authors.slice(0, 2).join(", "), n: authors.length - 2 }) : authors?.join(", ");
  return [names, year && String(year), journal, lang === "other" ? "" : lang && t(`lang_${lang}`), !names && !journal && id, found && t("found_in", { names: [...new Set(found.map(({ source }) => source))].join(", ") }), titleOnly && t("title_only"), folded && t("folded", { n: folded }), others && t("same_doi", { names: others.join(", ") })].filter(Boolean).join(" · ");
}

/** A paper as a ContextObject (Z39.88-2004, journal article) for literature managers. */
export function coins({ title, authors = [], journal, year, doi }) {
  const pairs = [["ctx_ver", "Z39.88-2004"], ["rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"], ["rft.genre", journal ? "article" : "unknown"],
    ["rft.atitle", title], ["rft.jtitle", journal], ["rft.date", year], ...authors.slice(0, 100).map((name) => ["rft.au", name]), ["rft_id", doi && `info:doi/${doi}`]];
  return pairs.filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** The id of a paper in unAPI. Zotero puts it into an address as it is, so it is encoded. */
export function unapiId(docId, index) {
  return `${encodeURIComponent(index)}/${encodeURIComponent(docId)}`;
}
