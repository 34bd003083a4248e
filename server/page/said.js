// What the server says in English, in the words of a Korean page.

import { fill, h, langOf } from "./dom.js";
import { language, wordsOf } from "./i18n.js";

let korean;

function patterns() {
  korean ??= wordsOf("said.ko").then(Object.entries, () => { korean = undefined; return []; });
  return korean;
}

/** Find the words of a sentence, and whether they tell all of it: those of its beginning alone do not. */
async function found(text) {
  const [pattern, words] = (await patterns()).find(([each]) => new RegExp(each).test(text)) ?? [];
  const match = pattern && text.match(pattern);
  return match && { words: words.replace(/\$(\d)/g, (_, group) => match[group] ?? ""), whole: pattern.endsWith("$") };
}

/** Return a sentence of the server's on a Korean page, where it is one that is known. */
export const inKorean = async (text) => (await found(text))?.words;

/** Show what the server says; on a Korean page in Korean, with its own words below where these tell more. */
export function saidByServer(text) {
  const own = h("span", { lang: "en" }, text);
  const place = h("span", {}, own);
  if (language === "ko") found(text).then((known) => known && fill(place, h("span", { lang: "ko" }, known.words), !known.whole && [h("br"), own]));
  return place;
}

/** Say a short sentence of the server's in the words of the page alone, where it is one that is known. */
export function saidShort(text) {
  const place = h("span", { lang: langOf(text) }, text);
  if (language === "ko") inKorean(text).then((words) => { if (words) { place.textContent = words; place.lang = "ko"; } });
  return place;
}
