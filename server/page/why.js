// Explanations on demand: of a paper's rank, and of a search without hits.

import { bars, byId, fill, h, langOf } from "./dom.js";
import { has, number, t } from "./i18n.js";

const FIGURES = { frequency: 0, document_frequency: 0, idf: 3, weight: 2, score: 4 }; // with their decimals

/** Render the explanation of one passage. */
export function explanation(account) {
  const named = (name) => (has(`part_${name}`) ? t(`part_${name}`) : name);
  const part = (name) => [named(name), name === "keywords" && account.language && ` (${t(`lang_${account.language}`)})`].filter(Boolean).join("");
  const parts = Object.entries(account.features ?? {}).filter(([, each]) => each.contribution);
  const terms = (account.terms ?? []).filter((each) => each.score);
  const rank = account.rank ? t("rank_is", { rank: account.rank, method: t(`method_${account.method}`) }) : t("rank_none");
  const head = ["term", "of", ...Object.keys(FIGURES)].map((name) => h("th", { scope: "col" }, t(`term_${name}`)));
  return h("div", { class: "inset", "data-explanation": account.passage_id },
    h("p", {}, rank, account.shown && account.shown !== account.passage_id ? ` ${t("shown_by", { passage: account.shown })}` : ""),
    parts.length > 0 && [h("h4", { class: "quiet" }, t("parts")), bars(parts.map(([name, each]) => [part(name), each.contribution])),
      h("p", { class: "number quiet" }, t("score_sum", { score: number(account.order_score ?? 0, 4) }))],
    terms.length > 0 && [h("h4", { class: "quiet" }, t("terms")), h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": t("terms") },
      h("table", { class: "table figures" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, terms.map((term) => h("tr", {},
        h("th", { scope: "row", lang: langOf(term.token) }, term.token), h("td", {}, named(term.field)),
        Object.entries(FIGURES).map(([name, digits]) => h("td", {}, number(term[name], digits))))))))]);
}

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
