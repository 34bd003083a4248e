// The search record: everything needed to report a search and to repeat it, saved and opened again.

import { call, download } from "./api.js";
import { NOTHING, body } from "./asked.js";
import { openDialog } from "./dialogs.js";
import { h, save } from "./dom.js";
import { feedsPart } from "./feeds.js";
import { learn, t } from "./i18n.js";
import { isSources } from "./places.js";
import { describe } from "./status.js";

await learn("dialogs");

const MOST_BYTES = 5_000_000;

/** Offer to save the record of a search, and to rerun a saved one by `run(asked, hits, find)`, with its old hits. */
export function showRecord(asked, run) {
  openDialog(t("record"), (close) => {
    const problems = h("div", { "aria-live": "polite" });
    const saved = (format, ending) => h("button", { type: "button", "data-format": format, onclick: async () => {
      try {
        const file = await download(`/api/v1/record?form=${format}`, { body: body(asked) });
        save(`shrag-search.${ending}`, format === "json" ? await withAnswer(file, asked) : file);
        problems.replaceChildren();
      } catch (error) {
        problems.replaceChildren(describe(error));
      }
    } }, t(`record_${format}`));
    const file = h("input", { type: "file", accept: ".json,application/json", "aria-label": t("record_open"), onchange: async () => {
      try {
        const chosen = file.files[0];
        if (!chosen || chosen.size > MOST_BYTES) throw new Error();
        const record = JSON.parse(await chosen.text());
        const again = fromRecord(record);
        close();
        // The record itself is sent: it contains more than the form, like the title's weight.
        run(again, hitsOf(record), async (signal) => (await call("/api/v1/rerun", { body: record, signal })).result);
      } catch {
        problems.replaceChildren(h("p", { class: "error" }, t("record_unreadable")));
      }
    } });
    return [
      h("p", {}, t("record_about")),
      asked.question && !isSources(asked.index)
        ? h("div", { class: "row" }, saved("docx", "docx"), saved("markdown", "md"), saved("json", "json"))
        : h("p", { class: "quiet" }, t(asked.question ? "record_not_of_sources" : "record_none")),
      h("div", { class: "row" }, h("label", {}, t("record_open"), " ", file)),
      problems,
      ...(asked.question && !isSources(asked.index) ? [feedsPart(asked)] : []),
    ];
  });
}

/** Add the options of an answer, which a search does not use. */
async function withAnswer(file, { way, hops, model }) {
  if (!way && !hops && !model) return file;
  return new Blob([JSON.stringify({ ...JSON.parse(await file.text()), answer: { way, hops, model } }, null, 2)], { type: file.type });
}

const hitsOf = ({ hits }) => (Array.isArray(hits) ? hits : []).map((hit) => ({ doc_id: String(hit?.doc_id), title: String(hit?.title ?? "") }));

/** Parse a saved record; throw an error if it is invalid. */
export function fromRecord(record) {
  const asked = record.request;
  if (!record.search_record || typeof asked?.question !== "string") throw new Error("no record of a search");
  const { years, lang, journal, author, type } = asked.filters ?? {};
  const texts = (values) => (Array.isArray(values) ? values.filter((each) => typeof each === "string") : []);
  const strategy = record.strategy?.origin === "statistics" ? null : record.strategy ?? null; // statistics give the same one again
  return {
    ...NOTHING,
    question: asked.question,
    index: String(record.index?.name ?? ""),
    method: String(asked.method ?? NOTHING.method),
    k: Number.isInteger(asked.k) ? asked.k : NOTHING.k,
    year: years ? (years.low === years.high ? String(years.low) : `${years.low ?? ""}..${years.high ?? ""}`) : "",
    lang: String(lang ?? ""),
    journal: String(journal ?? ""),
    author: String(author ?? ""),
    type: String(type ?? ""),
    sort: String(asked.sort ?? NOTHING.sort),
    exclude: strategy ? [] : texts(asked.exclude),
    conditions: asked.conditions !== false,
    strategy,
    skip: texts(asked.skip),
    way: String(record.answer?.way ?? ""),
    hops: String(record.answer?.hops ?? ""),
    model: String(record.answer?.model ?? ""),
  };
}
