// A reference to copy, and its files for literature managers.

import { query } from "./api.js";
import { h, langOf } from "./dom.js";
import { FORMATS } from "./formats.js";
import { t } from "./i18n.js";
import { partOf } from "./places.js";
import { say } from "./status.js";

/** Format a reference as plain text: authors (year). title. journal. address. */
export function reference({ authors, year, title, journal, doi, url, doc_id: id }) {
  const names = authors?.length ? `${authors.join(", ")} ` : "";
  const address = doi ? `https://doi.org/${doi}` : url ?? "";
  return [`${names}${year ? `(${year}). ` : ""}${title ?? id}.`, journal && `${journal}.`, address].filter(Boolean).join(" ");
}

/** Show the reference of a hit. */
export function citing(hit, index) {
  const text = reference({ ...hit.paper, ...hit });
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      say(t("copied"));
    } catch {
      say(t("copy_by_hand"));
    }
  }
  const links = Object.entries(FORMATS).map(([format, name]) =>
    h("a", { href: `/api/v1/export?${query({ format, ids: hit.doc_id, ...partOf(index) })}`, download: true }, name));
  return h("div", { class: "inset" }, h("p", { lang: langOf(hit.title, hit.lang) }, text),
    h("p", { class: "row" }, h("button", { type: "button", onclick: copy }, t("copy")), links));
}
