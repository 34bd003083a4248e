// Details of the search: method, order, version, time, notes.

import { byId, fill, h } from "./dom.js";
import { moment, t } from "./i18n.js";
import { listNotes } from "./notes.js";

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
