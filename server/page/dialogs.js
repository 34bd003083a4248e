// The dialogs, loaded when one is opened: marked papers, history, search record and feeds, kept searches, key.

import { SESSION, tabs, wantsKey } from "./access.js";
import { call, download } from "./api.js";
import { NOTHING, body } from "./asked.js";
import { byId, copyOf, fill, h, langOf, save } from "./dom.js";
import { exportPapers, formatChoice } from "./exports.js";
import { learn, moment, t } from "./i18n.js";
import { entries, forget, keep, mark, markedPapers } from "./kept.js";
import { hitAddress, isSources, linked } from "./papers.js";
import { attempt, describe } from "./status.js";

await learn("dialogs");

const FEEDS = "/api/v1/feeds";
const FOUND = "/api/v1/find-papers";
const MOST_BYTES = 5_000_000; // of a record

/** Open a native modal dialog, closed by Esc; `content` receives the function that closes it. */
function openDialog(title, content) {
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" });
  const close = () => dialog.close();
  dialog.append(
    h("header", {}, h("h2", { id: "dialog-title" }, title), button(t("close"), close)),
    ...[content(close)].flat());
  dialog.addEventListener("close", () => dialog.remove());
  byId("dialogs").append(dialog);
  dialog.showModal();
  return dialog;
}

const button = (label, onclick, attributes) => h("button", { type: "button", onclick, ...attributes }, label);
const quiet = (...said) => h("p", { class: "quiet" }, said);

/** Create a place for problems, and a function that makes an action report its problem there. */
function problemsOf() {
  const place = h("div", { "aria-live": "polite" });
  return [place, (work) => () => attempt(place, work)];
}

/** Show the marked papers, with their export. */
export function showMarked() {
  openDialog(t("marked_list"), () => {
    const place = h("div");
    const [problems, tried] = problemsOf();
    const unmark = (papers) => { mark(papers, false); show(); };
    const row = (paper) => h("li", {},
      linked(hitAddress({ doc_id: paper.id, url: paper.url }, paper.index), { lang: langOf(paper.title) }, paper.title || paper.id), " ",
      button(t("remove"), () => unmark([paper]), { class: "plain", "aria-label": t("unmark", { title: paper.title }) }));
    function show() {
      const papers = markedPapers();
      const exportAll = tried(async () => {
        for (const index of new Set(papers.map((paper) => paper.index))) await exportPapers(papers.filter((paper) => paper.index === index).map((paper) => paper.id), index);
      });
      fill(place, papers.length === 0 ? quiet(t("marked_none")) : [
        h("ul", {}, papers.map(row)),
        h("div", { class: "row" }, formatChoice(), button(t("export_marked", { n: papers.length }), exportAll, { class: "primary" }),
          button(t("unmark_all"), () => unmark(papers)))]);
    }
    show();
    return [place, problems];
  });
}

/** Show the history; `open(address, papers)` repeats a search, and compares with its papers of then. */
export function showHistory(open) {
  openDialog(t("history"), (close) => {
    const place = h("div");
    const row = (each) => h("li", {},
      h("a", { href: each.address, lang: langOf(each.question), onclick: (event) => { event.preventDefault(); close(); open(each.address, each.papers); } }, each.question),
      h("p", { class: "meta" }, [moment(each.at), each.index, t(`method_${each.method}`), t("papers", { n: each.hits })].join(" · ")));
    const saved = () => save("shrag-history.json", new Blob([JSON.stringify({ history: entries() }, null, 2)], { type: "application/json" }));
    const show = () => fill(place, entries().length === 0 ? quiet(t("history_none")) : [
      h("ol", {}, entries().map(row)),
      h("div", { class: "row" }, button(t("save_file"), saved), button(t("history_clear"), () => { keep([]); show(); }))]);
    show();
    return [quiet(t("history_about")), place];
  });
}

/** Offer to save the record of a search, and to rerun a saved one by `run(asked, hits, find)`, with its old hits. */
export function showRecord(asked, run) {
  openDialog(t("record"), (close) => {
    const [problems, tried] = problemsOf();
    const saved = (format, ending) => button(t(`record_${format}`), tried(async () => {
      const file = await download(`/api/v1/record?form=${format}`, { body: body(asked) });
      save(`shrag-search.${ending}`, file);
    }), { "data-format": format });
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
        fill(problems, h("p", { class: "error" }, t("record_unreadable")));
      }
    } });
    const can = asked.question && !isSources(asked.index);
    return [
      h("p", {}, t("record_about")),
      can ? h("div", { class: "row" }, saved("docx", "docx"), saved("markdown", "md"), saved("json", "json"))
        : quiet(t(asked.question ? "record_not_of_sources" : "record_none")),
      h("div", { class: "row" }, h("label", {}, t("record_open"), " ", file)),
      problems,
      ...(can ? [feedsPart(asked)] : []),
    ];
  });
}

const hitsOf = ({ hits }) => (Array.isArray(hits) ? hits : []).map((hit) => ({ doc_id: String(hit?.doc_id), title: String(hit?.title ?? "") }));

/** Parse a saved record; throw an error if it is invalid. */
function fromRecord(record) {
  const asked = record.request;
  if (!record.search_record || typeof asked?.question !== "string") throw new Error("no record of a search");
  const { years, ...filters } = asked.filters ?? {};
  const texts = (values) => (Array.isArray(values) ? values.filter((each) => typeof each === "string") : []);
  const named = (values, ...names) => Object.fromEntries(names.map((name) => [name, String(values?.[name] ?? NOTHING[name])]));
  const strategy = record.strategy?.origin === "statistics" ? null : record.strategy ?? null; // statistics give the same one again
  return {
    ...NOTHING,
    ...named(asked, "question", "method", "sort"),
    ...named(filters, "lang", "journal", "author", "type"),
    index: String(record.index?.name ?? ""),
    k: Number.isInteger(asked.k) ? asked.k : NOTHING.k,
    year: years ? (years.low === years.high ? String(years.low) : `${years.low ?? ""}..${years.high ?? ""}`) : "",
    exclude: strategy ? [] : texts(asked.exclude),
    conditions: asked.conditions !== false,
    strategy,
    skip: texts(asked.skip),
  };
}

/** Create the part of a dialog that creates a feed of a search, shows its address once, and deletes feeds. */
function feedsPart(asked) {
  const [made, tried] = problemsOf();
  const list = h("ul", { class: "kept" });
  const show = async () => fill(list, (await call(FEEDS)).feeds.map(item));
  const named = h("input", { size: "30", maxlength: "200", placeholder: asked.question.slice(0, 200) });
  const shown = h("input", { readonly: true, size: "40", onfocus: () => shown.select() });
  const copy = button(t("feed_copy"), () => { if (copyOf(shown)) copy.textContent = t("feed_copied"); });
  async function create() {
    const { k, sort, ...search } = body(asked); // all papers, not only the shown ones
    await tried(async () => {
      shown.value = (await call(FEEDS, { body: { ...search, name: named.value.trim() } })).address;
      copy.textContent = t("feed_copy");
      await show();
    })();
    if (shown.value && !made.hasChildNodes()) fill(made, h("label", {}, t("feed_address"), " ", shown), " ", copy);
  }
  const remove = (id) => tried(async () => {
    shown.value = "";
    await call(`${FEEDS}/${id}`, { method: "DELETE" });
    await show();
  });
  const item = ({ id, name, question, index, papers }) => h("li", { "data-feed": id },
    h("span", { lang: langOf(name) }, name),
    h("span", { class: "meta" }, ` ${[name !== question && question, index, t("feed_papers", { n: papers })].filter(Boolean).join(" · ")} `),
    button(t("feed_delete"), remove(id), { class: "plain", "data-key": `delete:${id}`, "aria-label": t("feed_delete_of", { question: name.slice(0, 100) }) }));
  show().catch(() => {}); // without the list a feed can still be created
  return h("div", { class: "feeds" },
    h("p", {}, t("feed_about")),
    h("div", { class: "row" }, h("label", {}, t("feed_name"), " ", named), button(t("feed_create"), create, { "data-feed-create": true })),
    made,
    list);
}

/** List the reader's searches for papers on the server, to open, save as a file or delete; `open(id)` shows one. */
export function showKept(open) {
  openDialog(t("find_kept"), (close) => {
    const place = h("div", { "aria-live": "polite" }, t("searching"));
    const [problems, tried] = problemsOf();
    const list = tried(async () => {
      const { searches } = await call(`${FOUND}/kept`);
      fill(place, searches.length === 0 ? quiet(t("find_kept_none")) : h("ul", { class: "kept" }, searches.map(item)));
    });
    function item({ id, request, question = request?.question ?? id, index, sources, updated, known, relevant, complete, running }) {
      const action = (key, label, work) => button(t(label), tried(work), { class: "plain", "data-key": `${key}:${id}`, "aria-label": t(`${label}_of`, { question: question.slice(0, 100) }) });
      const state = running ? t("find_kept_running") : complete ? "" : t("find_kept_incomplete");
      return h("li", { "data-kept": id },
        h("a", { href: `/find?search=${id}`, lang: langOf(question), onclick: (event) => { event.preventDefault(); close(); open(id); } }, question),
        h("p", { class: "meta" }, [updated && moment(updated), sources?.join(", ") ?? index, relevant !== undefined && t("find_counts", { n: known, relevant }), state].filter(Boolean).join(" · ")),
        h("p", { class: "row" },
          action("save", "find_save", async () => save(`shrag-papers-${id.slice(0, 8)}.json`, await download(`${FOUND}/${id}/state`))),
          action("delete", "find_delete", async () => { await call(`${FOUND}/${id}`, { method: "DELETE" }); await list(); })));
    }
    list();
    return [quiet(t("find_kept_about")), place, problems];
  });
}

/** End the session, and remove what this browser keeps, of all keys: other people may use it. */
async function leave() {
  const left = await call(SESSION, { method: "DELETE" });
  forget(localStorage);
  forget();
  tabs.postMessage("left");
  location.assign(left?.continue_at ?? "/"); // the session of the provider, or of the proxy
}

/** Let the reader enter a key, or end the session; `accepted` is called with a valid key. */
export function openKeyDialog(session, accepted) {
  if (byId("dialogs").querySelector("[data-access]")) return;
  const dialog = openDialog(t("access"), (close) => {
    const [problems, tried] = problemsOf();
    const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true, autofocus: true, spellcheck: "false" });
    async function enter(event) {
      event.preventDefault();
      try {
        await call(SESSION, { body: { key: key.value.trim() } });
      } catch (error) {
        fill(problems, describe(wantsKey(error) ? { code: "key-wrong" } : error));
        key.select();
        return;
      }
      close();
      accepted();
    }
    const { sign_in: signIn, signed_in: isIn, person, label, key: id, expires } = session ?? {};
    const form = h("form", { onsubmit: enter },
      h("p", {}, h("label", { for: "key" }, t("key"))),
      h("div", { class: "row" }, key, h("button", { class: "primary" }, t("key_enter"))));
    return [
      signIn && !isIn && h("p", {}, h("a", { class: "button", href: `${signIn}?next=${encodeURIComponent(location.pathname + location.search)}` }, t("sign_in"))),
      isIn && quiet(t("key_of", { label: label ?? id }), expires && ` · ${t("key_until", { date: String(expires).slice(0, 10) })}`),
      ...(person ? [] : [h("p", {}, t("key_about")), form]),
      problems,
      isIn && h("div", { class: "row" }, button(t(person ? "sign_out" : "key_forget"), tried(leave))),
    ].filter(Boolean);
  });
  dialog.dataset.access = "";
}
