// Explanation of a paper's rank: the parts of its score as bars, and the terms behind them as a table.

import { bars } from "./bars.js";
import { h, langOf } from "./dom.js";
import { has, learn, number, t } from "./i18n.js";

await learn("explanation");

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
