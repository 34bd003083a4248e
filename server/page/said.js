// What the server says in English, in the words of a Korean page; its own words stay as a second line.

import { h, langOf } from "./dom.js";
import { language, wordsOf } from "./i18n.js";

let korean;

function patterns() {
  korean ??= wordsOf("said.ko").then(Object.entries, () => { korean = undefined; return []; });
  return korean;
}

/** Return a sentence of the server's on a Korean page, where it is one that is known. */
export async function inKorean(text) {
  const [pattern, words] = (await patterns()).find(([each]) => new RegExp(each).test(text)) ?? [];
  const match = pattern && text.match(pattern);
  return match && words.replace(/\$(\d)/g, (_, group) => match[group] ?? "");
}

/** Show what the server says. */
export function saidByServer(text) {
  const place = h("span", {}, h("span", { lang: "en" }, text));
  if (language === "ko") inKorean(text).then((words) => words && place.prepend(h("span", { lang: "ko" }, words), h("br")));
  return place;
}

/** Say a short sentence of the server's in the words of the page alone, where it is one that is known. */
export function saidShort(text) {
  const place = h("span", { lang: langOf(text) }, text);
  if (language === "ko") inKorean(text).then((words) => { if (words) { place.textContent = words; place.lang = "ko"; } });
  return place;
}
