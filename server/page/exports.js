// References of papers as files for literature managers or documents, and citations in a style: of a paper, and of an answer.

import { download, query } from "./api.js";
import { byId, copyOf, fill, h, langOf, save } from "./dom.js";
import { language, t } from "./i18n.js";
import { partOf, placeOf, sourcesIn } from "./papers.js";
import { describe, say, sayProblem } from "./status.js";

const EXPORT = "/api/v1/export";
const STYLES = { apa: "APA 7", chicago: "Chicago", ieee: "IEEE", korean: t("style_korean"), mla: "MLA 9", vancouver: "Vancouver" };

let style = language === "ko" ? "korean" : "apa";

/** Create a menu of the styles; the last choice in any menu counts, and `changed` is called after it. */
function styleMenu(changed = () => {}) {
  const select = h("select", { "aria-label": t("style"), "data-styles": true, onchange: () => { style = select.value; changed(); } },
    Object.entries(STYLES).map(([value, name]) => h("option", { value }, name)));
  select.value = style;
  return select;
}

/** Show the reference of a paper in a style, to copy; `files` adds its files for literature managers. */
export function citing(hit, index, { files = true } = {}) {
  const links = files && Object.entries(FORMATS).map(([format, name]) =>
    h("a", { href: `${EXPORT}?${query({ format, ids: hit.doc_id, ...partOf(index) })}`, download: true }, name));
  return cited({ ids: [hit.doc_id], ...partOf(index) }, langOf(hit.title, hit.lang), links);
}

/** Show an answer with its citations and references in a style, to copy or to save as Word or Markdown. */
export function citingAnswer(question, answer, hits, index) {
  const { title, introduction, language, written_by, abstained } = answer;
  const sentences = answer.sentences.map(({ text, section, citations, check }) => ({ text, section, citations, check }));
  const body = {
    answer: { question, title, introduction, sentences, language, written_by, abstained },
    evidence: hits.map(({ passage_id, doc_id }) => ({ passage_id, doc_id })),
    ...partOf(index),
  };
  const files = ["docx", "markdown"].map((format) =>
    h("button", { type: "button", "data-format": format, onclick: () => saveAs(body, format).catch(sayProblem) }, t(`save_${format}`)));
  return cited(body, langOf(title, language), files);
}

async function saveAs(body, format) {
  save(`shrag-answer.${ENDINGS[format]}`, await download(EXPORT, { body: { ...body, format, cite: style } }));
}

/** Show what the server formats in the chosen style, with the menu of styles, a button to copy, and other links. */
function cited(body, lang, others) {
  const text = h("p", { class: "cited", lang, "data-cited": true });
  const menu = styleMenu(show);
  async function show() {
    const cite = menu.value;
    try {
      const file = await download(EXPORT, { body: { ...body, format: "text", cite } });
      const made = (await file.text()).trim();
      if (menu.value === cite) text.textContent = made;
    } catch (error) {
      fill(text, describe(error, show));
    }
  }
  show();
  return h("div", { class: "inset" }, text,
    h("p", { class: "row" }, menu, h("button", { type: "button", "data-copy": true, onclick: () => say(t(copyOf(text) ? "copied" : "copy_by_hand")) }, t("copy")), others));
}

// Files

const FORMATS = { ris: "RIS", bibtex: "BibTeX", "csl-json": "CSL-JSON", csv: "CSV", jsonl: "JSON Lines" };
const DOCUMENTS = { text: "TXT", markdown: "Markdown", docx: "Word" };
const ENDINGS = { ris: "ris", bibtex: "bib", "csl-json": "json", csv: "csv", jsonl: "jsonl", text: "txt", markdown: "md", docx: "docx" };

const NAMES = { ...FORMATS, ...DOCUMENTS };

let format = "ris";

/** Create the choice of a format, and of a style if the format is a document; the last choice applies to all. */
export function formatChoice() {
  const styles = h("span");
  const showStyles = () => fill(styles, format in DOCUMENTS && styleMenu());
  const select = h("select", { "aria-label": t("format"), onchange: () => { format = select.value; showStyles(); } },
    Object.entries(NAMES).map(([value, name]) => h("option", { value }, name)));
  select.value = format;
  showStyles();
  return [select, styles];
}

/** Save the references of papers of an index, or of sources, as a file. */
export async function exportPapers(ids, index) {
  const cite = format in DOCUMENTS ? style : undefined;
  const blob = await download(EXPORT, { body: { ids, format, cite, ...partOf(index) } });
  save(`shrag-${(sourcesIn(index).join("-") || index)}.${ENDINGS[format]}`, blob);
  say(t("exported", { n: ids.length, format: NAMES[format] }));
}

/** Offer to export all hits of a result. */
export function showExport(result) {
  const ids = result.hits.map((hit) => hit.doc_id);
  fill(byId("results-tools"), ids.length > 0 && h("div", { class: "results-tools" }, formatChoice(),
    h("button", { type: "button", "data-key": "export", onclick: () => exportPapers(ids, placeOf(result)).catch(sayProblem) }, t("export_all", { n: ids.length }))));
}
