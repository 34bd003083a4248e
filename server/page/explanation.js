// Explanation of a paper's rank: score parts as bars, its concepts, and all of it as lines.

import { bars } from "./bars.js";
import { h } from "./dom.js";
import { has, language, learn, number, t } from "./i18n.js";

await learn("explanation");

const part = (name) => (has(`part_${name}`) ? t(`part_${name}`) : name);

/** Render the explanation of one passage. */
export function explanation(account) {
  const parts = Object.entries(account.features ?? {}).filter(([, each]) => each.value);
  const concepts = (account.concepts ?? []).filter((each) => each.contribution > 0);
  const without = (account.concepts ?? []).filter((each) => !(each.contribution > 0) && each.importance > 0);
  const rank = account.rank ? t("rank_is", { rank: account.rank, method: t(`method_${account.method}`) }) : t("rank_none");
  const lines = (account.lines ?? []).join("\n");
  return h("div", { class: "inset", "data-explanation": account.passage_id },
    h("p", {}, rank, account.shown && account.shown !== account.passage_id ? ` ${t("shown_by", { passage: account.shown })}` : ""),
    parts.length > 0 && [h("h4", { class: "quiet" }, t("parts")), bars(parts.map(([name, each]) => [part(name), each.contribution])),
      h("p", { class: "number quiet" }, t("score_sum", { score: number(account.order_score ?? 0, 4) }))],
    concepts.length > 0 && [h("h4", { class: "quiet" }, t("concepts")), bars(concepts.map((each) => [
      each.by?.text && each.by.text !== each.text ? [each.text, " ← ", each.by.text] : each.text, each.contribution]))],
    without.length > 0 && h("p", { class: "quiet" }, t("concepts_without"), " ", without.map((each) => each.text).join(", ")),
    !parts.length && terms(account),
    lines && h("details", {}, h("summary", { class: "quiet" }, t("all_details")), h("pre", { class: "lines", lang: language, tabindex: "0" }, lines)));
}

function terms(account) {
  const rows = (account.terms ?? []).filter((each) => each.score > 0);
  if (!rows.length) return "";
  return [h("h4", { class: "quiet" }, t("terms")), bars(rows.map((each) => [each.field === "title" ? `${each.token} (${t("in_title")})` : each.token, each.score]))];
}
