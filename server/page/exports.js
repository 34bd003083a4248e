// Export of references, of all shown papers or of others, as files for literature managers or documents.

import { download } from "./api.js";
import { byId, fill, h, save } from "./dom.js";
import { t } from "./i18n.js";
import { partOf, placeOf, sourcesIn } from "./papers.js";
import { say, sayProblem } from "./status.js";

export const FORMATS = { ris: "RIS", bibtex: "BibTeX", "csl-json": "CSL-JSON", csv: "CSV", jsonl: "JSON Lines" };
const DOCUMENTS = { text: "TXT", markdown: "Markdown", docx: "Word" };
export const ENDINGS = { ris: "ris", bibtex: "bib", "csl-json": "json", csv: "csv", jsonl: "jsonl", text: "txt", markdown: "md", docx: "docx" };

const NAMES = { ...FORMATS, ...DOCUMENTS };

let format = "ris";

/** Create the choice of a format, and of a style if the format is a document; the last choice applies to all. */
export function formatChoice() {
  const styles = h("span");
  const showStyles = async () => fill(styles, format in DOCUMENTS && (await import("./citing.js")).styleMenu());
  const select = h("select", { "aria-label": t("format"), onchange: () => { format = select.value; showStyles(); } },
    Object.entries(NAMES).map(([value, name]) => h("option", { value }, name)));
  select.value = format;
  showStyles();
  return [select, styles];
}

/** Save the references of papers of an index, or of sources, as a file. */
export async function exportPapers(ids, index) {
  const cite = format in DOCUMENTS ? { cite: (await import("./citing.js")).chosenStyle() } : {};
  const blob = await download("/api/v1/export", { body: { ids, format, ...cite, ...partOf(index) } });
  save(`shrag-${(sourcesIn(index).join("-") || index)}.${ENDINGS[format]}`, blob);
  say(t("exported", { n: ids.length, format: NAMES[format] }));
}

/** Offer to export all hits of a result. */
export function showExport(result) {
  const ids = result.hits.map((hit) => hit.doc_id);
  fill(byId("results-tools"), ids.length > 0 && h("div", { class: "results-tools" }, formatChoice(),
    h("button", { type: "button", "data-key": "export", onclick: () => exportPapers(ids, placeOf(result)).catch(sayProblem) }, t("export_all", { n: ids.length }))));
}
