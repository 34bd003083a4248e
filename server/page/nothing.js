// Nothing was found: which words the index does not hold, near spellings, what else to try.

import { byId, fill, h, langOf } from "./dom.js";
import { t } from "./i18n.js";

/** Show why a search has no hits; `change(part)` runs it changed. */
export function showNothing(result, asked, change) {
  if (result.hits.length) return fill(byId("nothing"));
  const why = result.nothing_found ?? {};
  const filters = [asked.year && ["year", ""], asked.lang && ["lang", ""], asked.journal && ["journal", ""], asked.strict_time && ["strict_time", false]].filter(Boolean);
  const unknown = why.unknown ?? why.unknown_words ?? [];
  const near = Object.entries(why.spellings ?? why.near ?? {});
  const other = why.other_language ?? why.counterparts ?? [];
  const ask = (question, label) => h("button", { type: "button", lang: langOf(question), onclick: () => change({ question, keywords: null, skip: [] }) }, label ?? question);
  return fill(byId("nothing"), h("div", { class: "box", "data-nothing": true },
    h("p", {}, h("b", {}, t("nothing_found"))),
    unknown.length > 0 && h("p", {}, t("nothing_unknown"), " ", unknown.map((word, place) => [place > 0 && ", ", h("q", { lang: langOf(word.text ?? word) }, word.text ?? word)])),
    near.length > 0 && h("p", {}, t("nothing_near"), " ", near.flatMap(([word, others]) => [others].flat().map((text) => [ask(asked.question.replace(word, text), text), " "]))),
    other.length > 0 && h("p", {}, t("nothing_other"), " ", [other].flat().map((each) => [ask(each.text ?? each), " "])),
    filters.length > 0 && h("p", {}, t("nothing_filters"), " ", h("button", { type: "button", onclick: () => change(Object.fromEntries(filters)) }, t("drop_filters"))),
    asked.skip.length > 0 && h("p", {}, h("button", { type: "button", onclick: () => change({ skip: [] }) }, t("all_queries"))),
    h("p", { class: "quiet" }, t("nothing_advice"))));
}
