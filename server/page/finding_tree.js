// The tree of a search for papers as it grows: query, papers, their references and citing papers, evolved queries.
//
// The view is made of the papers found so far and of what is open. Only differences reach the page, a few rows of a part at
// a time; new rows come last, so that nothing moves while the reader looks at it or has the focus in it.

import { byId, h, langOf, morph } from "./dom.js";
import { paperLine } from "./found_papers.js";
import { groupKey, queriesKey } from "./found_so_far.js";
import { t } from "./i18n.js";
import { showReason } from "./status.js";

const ROWS = 50; // added at a time
const OPENED = 40; // number of papers up to which parts with relevant ones open automatically
const KINDS = ["reference", "citing"];

/** Show the tree of `found`; the function that is returned shows what is new. */
export function growingTree(found, index) {
  const opened = new Map(); // whether a part is open, by key; one without a value opens when it has relevant papers
  const orders = new Map(); // the papers of a list in the order of their rows, by key
  const limits = new Map(); // of the rows of a list, by key
  let open = 0; // papers of the parts that opened automatically
  let focused; // a paper

  function show() {
    const body = byId("tree-body");
    const fresh = body.cloneNode();
    fresh.append(...found.group(queriesKey()).map(queryPart));
    morph(body, fresh);
  }

  /** A list of a limited number of rows; new ones are appended, the best one first. */
  function list(key, label, papers) {
    const now = new Map(papers.map((paper) => [paper.id, paper]));
    const stayed = (orders.get(key) ?? []).filter((id) => now.delete(id));
    const order = [...stayed, ...[...now.values()].sort((one, other) => (other.score ?? 0) - (one.score ?? 0)).map(({ id }) => id)];
    orders.set(key, order);
    const most = limits.get(key) ?? ROWS;
    const more = order.length > most && h("li", {}, h("button", { type: "button", class: "plain", "data-key": `more:${key}`, onclick: () => showMore(key) }, t("find_more", { n: Math.min(order.length - most, ROWS) })));
    return h("ul", { role: "list", "aria-label": label }, order.slice(0, most).map(row), more);
  }

  /** Show the next rows, and focus the first of them. */
  function showMore(key) {
    const shown = limits.get(key) ?? ROWS;
    focused = orders.get(key)[shown];
    limits.set(key, shown + ROWS);
    show();
    document.querySelector(`[data-paper="${CSS.escape(focused)}"]`).focus({ preventScroll: true });
  }

  function row(id) {
    const paper = found.papers.get(id);
    const { score, relevant = false, reason } = paper;
    const linked = KINDS.filter((kind) => found.group(groupKey(kind, id)).length).map((kind) => linkedPart(kind, id));
    const evolved = found.group(queriesKey(id)).map(queryPart);
    return h("li", { "data-paper": id, "data-relevant": String(relevant), tabindex: id === focused && "-1" },
      h("div", { class: "tree-line", "data-same": JSON.stringify([score, relevant, reason]) }, paperLine(paper, index),
        relevant && reason && h("p", { class: "quiet reason" }, showReason(reason, paper.reason_code))),
      linked.length + evolved.length > 0 && h("ul", { role: "list" }, linked, evolved));
  }

  const button = (key, name, attributes, ...words) => h("button", { type: "button", "aria-expanded": String(Boolean(opened.get(key))), "data-key": `${name}:${key}`, onclick: () => { opened.set(key, !opened.get(key)); show(); }, ...attributes }, words);

  /** A part opened by a button: its relevant papers, and behind another button the other ones. */
  function part(key, label, attributes, name, empty) {
    const papers = found.group(key).map((id) => found.papers.get(id));
    const good = papers.filter(({ relevant }) => relevant);
    if (!opened.has(key) && good.length && open < OPENED) {
      opened.set(key, true);
      open += good.length;
    }
    const counts = papers.length ? t("find_counts", { n: papers.length, relevant: good.length }) : empty;
    return h("li", { ...attributes, class: "part" },
      button(key, "branch", { class: "branch", disabled: !papers.length }, h("span", {}, name), " ", h("span", { class: "number quiet" }, counts)),
      opened.get(key) && h("div", {}, list(key, label, good), others(`${key}\nothers`, papers.filter(({ relevant }) => !relevant))));
  }

  /** Papers below the threshold or not judged: a count, and the rows on demand. */
  function others(key, papers) {
    const waiting = papers.filter(({ score }) => score === null || score === undefined).length;
    const low = papers.length - waiting;
    const words = [low > 0 && t("find_below", { n: low }), waiting > 0 && t("find_waiting", { n: waiting })].filter(Boolean).join(", ");
    return papers.length > 0 && h("div", { class: "others" }, button(key, "others", { class: "plain" }, words),
      opened.get(key) && h("div", {}, list(key, t("find_below_list"), papers)));
  }

  function queryPart(text) {
    const { kind, found: count } = found.queries.get(text);
    const name = [h("span", { class: "badge" }, t(`find_query_${kind}`)), " ", h("span", { lang: langOf(text) }, text)];
    return part(groupKey("query", text), t("find_papers_of", { name: text }), { "data-query": text }, name, t(count === null ? "find_not_sent" : "find_nothing_new"));
  }

  const linkedPart = (kind, id) => part(groupKey(kind, id), t(`find_${kind}`), { "data-linked": kind }, t(`find_${kind}`), "");

  return show;
}
