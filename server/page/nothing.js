// No hits: words that are not in the index, similar spellings, and other suggestions.

import { byId, fill, h, langOf } from "./dom.js";
import { learn, number, t } from "./i18n.js";

await learn("nothing");

const FILTERS = { year: "year", lang: "language", journal: "journal", author: "author", type: "type", incomplete: "filter_incomplete" };

/** Show why a search has no hits; `change(part)` repeats it with a change. */
export function showNothing(result, asked, change) {
  const { unknown = [], other_language: others = [], without_filter: lifted = [] } = result.nothing_found ?? {};
  const near = unknown.filter((word) => word.near.length);
  const ask = (question, label) => h("button", { type: "button", lang: langOf(question), onclick: () => change({ question, strategy: null, skip: [] }) }, label ?? question);
  fill(byId("nothing"), h("div", { class: "box", "data-nothing": true },
    h("p", {}, h("b", {}, t("nothing_found"))),
    unknown.length > 0 && h("p", {}, t("nothing_unknown"), " ", unknown.map(({ text }, place) => [place > 0 && ", ", h("q", { lang: langOf(text) }, text)])),
    near.length > 0 && h("p", {}, t("nothing_near"), " ", near.map(({ text, near: spelled }) => spelled.map((other) => [ask(asked.question.replace(text, other), other), " "]))),
    others.length > 0 && h("p", {}, t("nothing_other"), " ", others.map(({ text, passages }) => [ask(text, `${text} (${number(passages)})`), " "])),
    lifted.map(({ filter, passages }) => h("p", {}, t("nothing_filter", { name: t(FILTERS[filter] ?? filter), n: passages }), " ",
      filter !== "incomplete" && h("button", { type: "button", onclick: () => change({ [filter]: "" }) }, t("drop", { name: t(FILTERS[filter]) })))),
    asked.skip.length > 0 && h("p", {}, h("button", { type: "button", onclick: () => change({ skip: [] }) }, t("all_queries"))),
    h("p", { class: "quiet" }, t("nothing_advice"))));
}
