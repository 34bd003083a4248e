// The queries as bars: their hits, and the hits that no earlier query had found. Each can be left out.

import { byId, fill, h } from "./dom.js";
import { has, number, t } from "./i18n.js";

let shown = false;

/** Show the queries of a result; `change(skip)` is called with the names that are left out. */
export function showQueries(result, asked, change) {
  const queries = result.queries ?? [];
  const most = Math.max(...queries.map((each) => each.hits), 1);
  const left = asked.skip.filter((name) => !queries.some((each) => each.name === name));
  const rows = [...queries, ...left.map((name) => ({ name, skipped: true }))].sort(inPlan);
  if (!rows.length) return fill(byId("queries"));
  const single = rows.length === 1 && !rows[0].skipped;
  const toggle = h("button", { type: "button", class: "plain", "aria-pressed": String(shown), "data-key": "expressions", onclick: () => { shown = !shown; showQueries(result, asked, change); } }, t("expressions"));
  return fill(byId("queries"),
    h("h3", {}, h("span", {}, t("queries")), toggle),
    h("p", { class: "legend", "aria-hidden": "true" }, h("span", {}, h("i"), t("legend_found")), h("span", {}, h("i", { class: "new" }), t("legend_added"))),
    h("ul", { class: "queries" }, rows.map(row)));

  function row({ name, query, hits = 0, added = 0, skipped = false }) {
    const title = nameOf(name);
    const said = skipped ? t("query_left_out", { name: title }) : t("query_said", { name: title, hits, added });
    const box = h("input", { type: "checkbox", "aria-label": said, "data-key": `query:${name}`, onchange: () => change(skipped ? asked.skip.filter((each) => each !== name) : [...asked.skip, name], skipped ? t("taken_in", { name: title }) : t("left_out_now", { name: title })) });
    box.checked = !skipped;
    box.disabled = single;
    return h("li", { "data-query": name },
      h("label", {}, box,
        h("span", { class: skipped ? "skipped" : "" }, title),
        h("span", { class: "track" }, !skipped && [h("span", { class: "added", "--share": (100 * added) / most }), h("span", { class: "found", "--share": (100 * (hits - added)) / most })]),
        h("span", { class: "number" }, skipped ? "–" : number(hits)),
        h("span", { class: "number" }, !skipped && added > 0 ? `+${number(added)}` : "")),
      query && h("p", { class: shown ? "sent" : "sent print-only" }, query));
  }
}

/** The name of a query in words: SQ7 is the OR of the seven most important keywords. */
export const nameOf = (name) => (/^SQ\d+$/.test(name) ? t("query_of_keywords", { n: Number(name.slice(2)) }) : has(`query_${name}`) ? t(`query_${name}`) : name);

function inPlan(one, other) {
  const place = ({ name }) => (name === "question" ? -100 : /^SQ\d+$/.test(name) ? -Number(name.slice(2)) : 1);
  return place(one) - place(other);
}
