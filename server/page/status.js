// A status line for screen readers, errors with the next step, and notes of the server in the language of the page.

import { byId, fill, h, langOf } from "./dom.js";
import { has, language, number, t, wordsOf } from "./i18n.js";

/** Show the current status. */
export function say(text) {
  byId("status").textContent = text;
}

// Problems whose detail contains more than their code: the field of a call, a name.
const DETAILED = new Set([
  "bad-question", "bad-filter", "bad-expression", "bad-request", "invalid-call", "not-found", "wrong-method", "wrong-media-type",
  "unknown-index", "unknown-paper", "unknown-passage", "unknown-source", "unknown-way", "unknown-model",
]);

const COMMAND = /\bshrag [a-z]/;

/** Return the server's message of a problem; one for operators, or in another language than the page's, is folded. */
function detailOf(problem) {
  if (!problem.detail || problem.code === "key-needed") return "";
  const own = h("p", { class: "quiet", lang: "en" }, problem.detail);
  const known = has(`problem_${problem.code}`) && (!DETAILED.has(problem.code) || COMMAND.test(problem.detail));
  const folded = h("details", {}, h("summary", { class: "quiet" }, t("for_operator")), own);
  if (known) return folded;
  if (language !== "ko") return own;
  inKorean(problem.note).then((words) => {
    if (words) folded.replaceWith(h("p", { class: "quiet", lang: "ko" }, problem.place ? `${problem.place}: ${words}` : words));
  });
  return folded;
}

/** The words of an error in the page's language. */
const wordsFor = ({ code, retry_after_s: seconds = 5 }) => (has(`problem_${code}`) ? t(`problem_${code}`, { seconds: Math.ceil(seconds) }) : t("problem"));

/** Describe an error: the cause, the server's message, the next step. */
export function describe(problem, again) {
  const button = again && h("button", { type: "button", onclick: again }, t("try_again"));
  return h("div", { class: "box", role: "group", "data-problem": problem.code ?? "unexpected" },
    h("p", { class: "error" }, wordsFor(problem)), h("div", {}, detailOf(problem)), button && h("p", {}, button));
}

/** Run an action; its problem is shown in `place`. */
export async function attempt(place, work) {
  try {
    await work();
    fill(place);
  } catch (error) {
    fill(place, describe(error));
  }
}

/** Announce an error to screen readers. */
export const sayProblem = (problem) => say(wordsFor(problem));

// Notes: English text, with code and values for the Korean templates.

let templates;

/** Return the Korean text of a note; undefined if it has no code. */
async function inKorean(note) {
  if (!note) return undefined;
  templates ??= wordsOf("notes.ko").catch(() => { templates = undefined; return {}; });
  return (await templates)[note.code]?.replace(/\{(\w+)(:,)?\}/g, (_, name, grouped) => (grouped ? number(note.values[name]) : note.values[name]));
}

/** Show a note; on a Korean page translated, or folded if it has no code. */
export function showNote(text, note) {
  const own = h("span", { lang: "en" }, text);
  if (language !== "ko") return own;
  const folded = h("details", {}, h("summary", { class: "quiet" }, t("for_operator")), own);
  const place = h("span");
  inKorean(note).then((words) => fill(place, words ? h("span", { lang: "ko" }, words) : folded));
  return place;
}

/** Show a list of notes with their codes. */
export const listNotes = (notes, codes = []) => h("ul", { class: "notes" }, notes.map((text, at) => h("li", {}, showNote(text, codes[at]))));

/** Show a short reason; on a Korean page translated if it has a code. */
export function showReason(text, note) {
  const place = h("span", { lang: langOf(text) }, text);
  if (language === "ko") inKorean(note).then((words) => { if (words) { place.textContent = words; place.lang = "ko"; } });
  return place;
}
