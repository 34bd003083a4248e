// Notes of the server: English text, with code and values for the Korean templates.

import { fill, h, langOf } from "./dom.js";
import { language, number, t, wordsOf } from "./i18n.js";

let templates;

/** Return the Korean text of a note; undefined if it has no code. */
export async function inKorean(note) {
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
