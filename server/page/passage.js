// A cited passage, shown next to its sentence, with the words that support it; Esc returns to the citation.

import { byId, fill, h, langOf, leavePassage, marked } from "./dom.js";
import { t } from "./i18n.js";
import { byline, hitAddress, isSources } from "./papers.js";

const WORD = /[\p{L}\p{N}][\p{L}\p{N}.,%-]*[\p{L}\p{N}%]|[\p{L}\p{N}]/gu;
const HANGUL = /^[\uac00-\ud7a3]/;
const COMMON = /^(?:which|their|these|there|하였다|있다|있었다|않았다|한다|된다|대한|대하여|위한|통해)$/i;

/** The beginning of a word, by which words with other endings and particles match; common words, and short ones without digits, mark nothing. */
function stem(word) {
  if (COMMON.test(word)) return undefined;
  const length = HANGUL.test(word) ? 2 : 5;
  return word.length >= length ? word.toLowerCase().slice(0, length) : /\d/.test(word) && word;
}

/** Return the spans [start, end) of code points of `text` that support `sentence`; `searched` are keywords, which support a sentence in another language. */
function supportingSpans(sentence, text, searched = []) {
  const whole = text.indexOf(sentence);
  if (whole >= 0) return [[codePoints(text, whole), codePoints(text, whole + sentence.length)]];
  const wanted = new Set([sentence, ...searched].flatMap((each) => each.match(WORD) ?? []).map(stem).filter(Boolean));
  return [...text.matchAll(WORD)].filter(([word]) => wanted.has(stem(word)))
    .map(({ 0: word, index }) => [codePoints(text, index), codePoints(text, index + word.length)]);
}

const codePoints = (text, units) => Array.from(text.slice(0, units)).length;

let opener = null;

/** Open a passage of the evidence; the text that supports `sentence` is marked. */
export function openPassage(hit, { number, sentence = "", searched = [], index }, from) {
  opener?.setAttribute("aria-expanded", "false");
  opener = from;
  from.setAttribute("aria-expanded", "true");
  const lang = langOf(hit.text || hit.title, hit.lang);
  const spans = sentence ? supportingSpans(sentence, hit.text ?? "", langOf(sentence) === lang ? [] : searched) : [];
  const address = hitAddress(hit, index, hit.passage_id);
  const title = h("h3", { class: "title", id: "beside-title", tabindex: "-1", lang: langOf(hit.title, hit.lang) }, `[${number}] ${hit.title}`);
  const panel = h("section", { class: "beside", "aria-labelledby": "beside-title", "data-passage-beside": hit.passage_id },
    h("header", {}, title, h("button", { type: "button", onclick: closePassage, "aria-keyshortcuts": "Escape" }, t("close"))),
    h("p", { class: "meta" }, byline(hit)),
    sentence && h("p", { class: "claim", lang: langOf(sentence) }, sentence),
    sentence && h("p", { class: "quiet" }, spans.length ? t("support_marked") : t("support_none")),
    h("p", { class: "passage", lang }, marked(hit.text ?? hit.snippet ?? "", spans)),
    address && h("p", {}, h("a", { href: address }, t(isSources(index) ? "paper_on_web" : "paper_page"))));
  fill(byId("passage-beside"), panel);
  document.body.classList.add("showing-passage");
  byId("results").scrollTop = 0;
  title.focus({ preventScroll: true });
  panel.querySelector("mark")?.scrollIntoView({ block: "center" });
}

/** Close it and return to the citation. */
export function closePassage() {
  leavePassage();
  if (!opener) return;
  opener.setAttribute("aria-expanded", "false");
  const back = opener;
  opener = null;
  if (back.isConnected) back.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && opener && !document.querySelector("dialog[open]")) closePassage();
});
