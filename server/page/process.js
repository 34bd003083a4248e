// How a search was run: its queries as bars, each of which can be left out, and its details; keywords by the model.

import { call } from "./api.js";
import { body } from "./asked.js";
import { byId, fill, h } from "./dom.js";
import { has, moment, number, t } from "./i18n.js";
import { listNotes, say, sayProblem } from "./status.js";

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
const nameOf = (name) => (/^SQ\d+$/.test(name) ? t("query_of_keywords", { n: Number(name.slice(2)) }) : has(`query_${name}`) ? t(`query_${name}`) : name);

function inPlan(one, other) {
  const place = ({ name }) => (name === "question" ? -100 : /^SQ\d+$/.test(name) ? -Number(name.slice(2)) : 1);
  return place(one) - place(other);
}

/** Show the details of a result. */
export function showDetails(result, manifest) {
  const pairs = [
    [t("method"), t(`method_${result.method}`)],
    result.sources
      ? [t("sources"), result.sources.join(", ")]
      : [t("index"), t("index_said", { name: result.index ?? "", version: result.version ?? "" }) + (manifest?.papers ? ` · ${t("papers", { n: manifest.papers })}` : "")],
  ];
  const { incomplete = 0, duplicates = 0, low_scores: low = 0 } = result.filtered ?? {};
  if (duplicates) pairs.push([t("left_out"), t("duplicates", { n: duplicates })]);
  if (low) pairs.push([t("left_out"), t("low_scores", { n: low })]);
  if (incomplete) pairs.push([t("left_out"), t("incomplete", { n: incomplete })]);
  if (result.applied?.vectors) pairs.push([t("vectors"), result.applied.vectors]);
  if (result.applied?.reranker) pairs.push([t("reranker"), result.applied.reranker]);
  if (result.milliseconds?.total) pairs.push([t("time"), t("milliseconds", { n: Math.round(result.milliseconds.total) })]);
  // A printed page is a record of the search.
  const printed = [[t("date"), moment(new Date().toISOString())], [t("fingerprint"), Object.entries(result.fingerprint ?? {}).map(([name, value]) => `${name} ${value}`).join(", ")]];
  const notes = result.notes ?? [];
  fill(byId("details"),
    h("h3", {}, t("details")),
    h("dl", { class: "pairs" }, pairs.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("dl", { class: "pairs print-only" }, printed.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    result.sources && h("p", { class: "quiet" }, t("sources_without")),
    notes.length > 0 && listNotes(notes, result.note_codes));
}

/** Ask the model, and search with its strategy: `use(strategy, said)`, unless another search was faster than it. */
export async function askModel(asked, button, use) {
  button.setAttribute("aria-disabled", "true");
  say(t("asking_model"));
  try {
    const { strategy } = await call("/api/v1/keywords", { body: { ...body({ ...asked, strategy: null }), strategist: "model" } });
    if (!button.isConnected) return;
    if (strategy.origin === "model") use(strategy, t("origin_model"));
    else say(t("ask_model_failed"));
  } catch (error) {
    sayProblem(error);
  }
}
