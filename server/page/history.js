// The searches kept in this browser, each with its differences from the one before; they can be cleared or saved.

import { NOTHING, fromAddress } from "./asked.js";
import { openDialog } from "./dialogs.js";
import { fill, h, langOf, save } from "./dom.js";
import { has, learn, moment, t } from "./i18n.js";
import { entries, keep } from "./searches_kept.js";

await learn("dialogs");

const LISTS = ["strategy", "skip", "exclude"];
const NAMES = { lang: "language", k: "papers_wanted", skip: "queries", conditions: "literal" };
const UNCOMPARED = new Set(["question", "ask", "earlier", "meant", "beside"]);

/** Show the history; `open(address, papers)` repeats a search, and compares with its papers of then. */
export function showHistory(open) {
  openDialog(t("history"), (close) => {
    const place = h("div");
    const show = () => fill(place, entries().length === 0
      ? h("p", { class: "quiet" }, t("history_none"))
      : [h("ol", {}, entries().map((each, order, all) => h("li", {},
          h("a", { href: each.address, lang: langOf(each.question), onclick: (event) => { event.preventDefault(); close(); open(each.address, each.papers); } }, each.question),
          h("p", { class: "meta" }, [moment(each.at), each.index, t(`method_${each.method}`), t("papers", { n: each.hits })].join(" · ")),
          changed(each, all[order + 1])))),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => save("shrag-history.json", new Blob([JSON.stringify({ history: entries() }, null, 2)], { type: "application/json" })) }, t("save_file")),
          h("button", { type: "button", onclick: () => { keep([]); show(); } }, t("history_clear")))]);
    show();
    return [h("p", { class: "quiet" }, t("history_about")), place];
  });
}

/** The differences of a search from the one before it, if both have the same question. */
function changed(now, before) {
  if (before?.question !== now.question) return "";
  const [old, next] = [before, now].map(({ address }) => fromAddress(address.slice(1)));
  const parts = Object.keys(NOTHING).filter((name) => !UNCOMPARED.has(name)).map((name) => difference(name, old[name], next[name])).filter(Boolean);
  const ids = (search) => new Set((search.papers ?? []).map((paper) => paper.doc_id));
  const [were, are] = [ids(before), ids(now)];
  const came = [...are].filter((id) => !were.has(id)).length;
  const went = [...were].filter((id) => !are.has(id)).length;
  if (came || went) parts.push(t("came_and_went", { came, went }));
  return parts.length > 0 && h("p", { class: "quiet", "data-changed": true }, `${t("history_changed")} ${parts.join(" · ")}`);
}

function difference(name, old, next) {
  if (JSON.stringify(old) === JSON.stringify(next)) return "";
  const label = t(NAMES[name] ?? name);
  if (LISTS.includes(name)) {
    const [before, now] = [textsOf(old), textsOf(next)];
    const added = now.filter((text) => !before.includes(text)).map((text) => `＋${text}`);
    const removed = before.filter((text) => !now.includes(text)).map((text) => `－${text}`);
    return `${label} ${[...added, ...removed].join(" ") || t("changed")}`;
  }
  if (typeof next === "boolean") return `${label}: ${t((name === "conditions") !== next ? "yes" : "no")}`;
  const shown = (value) => (value === "" ? "–" : has(`${name}_${value}`) ? t(`${name}_${value}`) : value);
  return `${label}: ${shown(old)} → ${shown(next)}`;
}

/** The texts of a list, or of a strategy: keywords, exclusions, years. */
function textsOf(value) {
  if (!value || Array.isArray(value)) return value ?? [];
  const { ko = [], en = [], exclude = [], years } = value;
  return [...ko, ...en, ...exclude.map((each) => `${t("not")} ${Object.values(each).join(" · ")}`), ...(years ? [years.map((year) => year ?? "").join("–")] : [])];
}
