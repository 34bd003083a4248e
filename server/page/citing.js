// Citations in a style: of a paper, with its files for literature managers, and of an answer with its references.

import { download, query } from "./api.js";
import { copyOf, fill, h, langOf, save } from "./dom.js";
import { ENDINGS, FORMATS } from "./exports.js";
import { language, learn, t } from "./i18n.js";
import { partOf } from "./papers.js";
import { describe, say, sayProblem } from "./status.js";

await learn("citing");

const STYLES = { apa: "APA 7", chicago: "Chicago", ieee: "IEEE", korean: t("style_korean"), mla: "MLA 9", vancouver: "Vancouver" };

let style = language === "ko" ? "korean" : "apa";

/** The style chosen last in any menu. */
export const chosenStyle = () => style;

/** Create a menu of the styles; `changed` is called after a choice. */
export function styleMenu(changed = () => {}) {
  const select = h("select", { "aria-label": t("style"), "data-styles": true, onchange: () => { style = select.value; changed(); } },
    Object.entries(STYLES).map(([value, name]) => h("option", { value }, name)));
  select.value = style;
  return select;
}

const EXPORT = "/api/v1/export";

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
  save(`shrag-answer.${ENDINGS[format]}`, await download(EXPORT, { body: { ...body, format, cite: chosenStyle() } }));
}

/** Show what the server formats in the chosen style, with the menu of styles, a button to copy, and other links. */
function cited(body, lang, others) {
  const text = h("p", { class: "cited", lang, "data-cited": true });
  const menu = styleMenu(show);
  async function show() {
    const style = chosenStyle();
    try {
      const file = await download(EXPORT, { body: { ...body, format: "text", cite: style } });
      const made = (await file.text()).trim();
      if (menu.value === style) text.textContent = made;
    } catch (error) {
      fill(text, describe(error, show));
    }
  }
  show();
  return h("div", { class: "inset" }, text,
    h("p", { class: "row" }, menu, h("button", { type: "button", "data-copy": true, onclick: () => say(t(copyOf(text) ? "copied" : "copy_by_hand")) }, t("copy")), others));
}
