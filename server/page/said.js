// Translation of the server's English messages on a Korean page.

import { fill, h, langOf } from "./dom.js";
import { language, t, wordsOf } from "./i18n.js";

let korean;

function patterns() {
  korean ??= wordsOf("said.ko").then(Object.entries, () => { korean = undefined; return []; });
  return korean;
}

/** Find the translation of a message, and whether it is complete: a pattern may match only the beginning. */
async function found(text) {
  const [pattern, words] = (await patterns()).find(([each]) => new RegExp(each).test(text)) ?? [];
  const match = pattern && text.match(pattern);
  return match && { words: words.replace(/\$(\d)/g, (_, group) => match[group] ?? ""), whole: pattern.endsWith("$") };
}

/** Return a message of the server, translated on a Korean page if possible. */
export const inKorean = async (text) => (await found(text))?.words;

/** Show a message of the server; on a Korean page translated, or folded if there is no translation. */
export function saidByServer(text) {
  const own = h("span", { lang: "en" }, text);
  if (language !== "ko") return own;
  const folded = h("details", {}, h("summary", { class: "quiet" }, t("for_operator")), own);
  const place = h("span");
  found(text).then((known) => fill(place, known ? h("span", { lang: "ko" }, known.words) : folded));
  return place;
}

/** Return a short message of the server in the page's language only, if it is known. */
export function saidShort(text) {
  const place = h("span", { lang: langOf(text) }, text);
  if (language === "ko") inKorean(text).then((words) => { if (words) { place.textContent = words; place.lang = "ko"; } });
  return place;
}
