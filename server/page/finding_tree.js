// The tree of a search for papers as it grows: query, papers, their references and citing papers, evolved queries.
//
// Nested lists with buttons that open their parts. A part is created when it is opened, a few rows at a time; new rows
// are appended, so that nothing moves while the reader looks at it or has the focus in it.

import { byId, fill, folding, h, langOf } from "./dom.js";
import { paperLine } from "./found_papers.js";
import { groupKey, queriesKey } from "./found_so_far.js";
import { number, t } from "./i18n.js";
import { showReason } from "./status.js";

const ROWS = 50; // added at a time
const OPENED = 40; // number of papers up to which parts with relevant ones open automatically
const KINDS = ["reference", "citing"];

/** Show the tree of `found`; `update(keys)` shows what is new in these groups. */
export function growingTree(found, index) {
  const views = new Map(); // of the created groups, by key
  const rows = new Map(); // of papers, by id
  let opened = 0;

  /** A list of a limited number of rows; new rows are appended, the best one first. */
  function rowList(label) {
    let most = ROWS;
    let order = [];
    const more = h("button", { type: "button", class: "plain", onclick: showMore });
    const behind = h("li", { hidden: true }, more);
    const list = h("ul", { role: "list", "aria-label": label }, behind);
    function show() {
      const focused = document.activeElement;
      const wanted = order.slice(0, most).map(({ id }) => rowOf(id));
      const kept = new Set(wanted);
      [...list.children].forEach((row) => { if (row !== behind && !kept.has(row)) row.remove(); });
      wanted.forEach((row, place) => { if (list.children[place] !== row) list.insertBefore(row, list.children[place]); });
      behind.hidden = order.length <= most;
      more.textContent = t("find_more", { n: Math.min(order.length - most, ROWS) });
      if (focused !== document.activeElement) focused.focus({ preventScroll: true }); // it moved with its row
    }
    /** Show the next rows, and focus the first of them. */
    function showMore() {
      const next = rowOf(order[most].id);
      most += ROWS;
      show();
      next.tabIndex = -1;
      next.focus({ preventScroll: true });
    }
    function update(papers) {
      const now = new Map(papers.map((paper) => [paper.id, paper]));
      const stayed = order.filter(({ id }) => now.delete(id));
      order = [...stayed, ...[...now.values()].sort((one, other) => (other.score ?? 0) - (one.score ?? 0))];
      show();
    }
    return { list, update };
  }

  function rowOf(id) {
    if (!rows.has(id)) rows.set(id, paperRow(id));
    return rows.get(id).element;
  }

  function paperRow(id) {
    const line = h("div", { class: "tree-line" });
    const below = h("ul", { role: "list", hidden: true });
    const element = h("li", { "data-paper": id }, line, below);
    let said = "";
    function update() {
      const paper = found.papers.get(id);
      const now = JSON.stringify([paper.score, paper.relevant, paper.reason]);
      if (now !== said) {
        fill(line, paperLine(paper, index), paper.relevant && paper.reason && h("p", { class: "quiet reason" }, showReason(paper.reason, paper.reason_code)));
        element.dataset.relevant = String(Boolean(paper.relevant));
      }
      said = now;
      for (const kind of KINDS) if (found.group(groupKey(kind, id)).length) put(groupKey(kind, id), below, () => linkedPart(kind, id));
      showQueries(id, below);
      below.hidden = !below.hasChildNodes();
    }
    update();
    return { element, update };
  }

  /** Insert the view of a group, once, and update it. */
  function put(key, place, make) {
    if (!views.has(key)) {
      views.set(key, make());
      place.append(views.get(key).element);
    }
    views.get(key).update();
  }

  function showQueries(paper, place) {
    for (const text of found.group(queriesKey(paper))) put(groupKey("query", text), place, () => queryPart(text));
  }

  /** A part opened by a button: its relevant papers, and behind another button the other ones. */
  function part(key, label, attributes, nameOf, emptyOf) {
    const name = h("span");
    const counts = h("span", { class: "number quiet" });
    let chosen = false; // opened or closed by the reader; then it does not open automatically
    let relevant;
    let others;
    const fold = folding((place) => {
      relevant = rowList(label);
      others = foldedRows();
      place.append(relevant.list, others.element);
    }, { class: "branch" }, update);
    fold.button.append(name, " ", counts);
    fold.button.addEventListener("click", () => { chosen = true; });
    function update() {
      const papers = found.group(key).map((id) => found.papers.get(id));
      const good = papers.filter((paper) => paper.relevant);
      fill(name, nameOf());
      counts.textContent = papers.length ? t("find_counts", { n: papers.length, relevant: good.length }) : emptyOf();
      fold.button.disabled = !papers.length;
      if (!fold.place.hidden) {
        relevant.update(good);
        others.update(papers.filter((paper) => !paper.relevant));
      } else if (!chosen && good.length && opened < OPENED) {
        opened += good.length;
        fold.open(true);
      }
    }
    return { element: h("li", { ...attributes, class: "part" }, fold.button, fold.place), update };
  }

  /** Papers below the threshold or not judged: a count, and the rows on demand. */
  function foldedRows() {
    let list;
    let papers = [];
    const fold = folding((place) => {
      list = rowList(t("find_below_list"));
      place.append(list.list);
    }, {}, () => list.update(papers));
    const element = h("div", { class: "others", hidden: true }, fold.button, fold.place);
    function update(now) {
      papers = now;
      const waiting = papers.filter(({ score }) => score === null || score === undefined).length;
      const low = papers.length - waiting;
      element.hidden = !papers.length;
      fold.button.textContent = [low > 0 && t("find_below", { n: low }), waiting > 0 && t("find_waiting", { n: waiting })].filter(Boolean).join(", ");
      if (!fold.place.hidden) list.update(papers);
    }
    return { element, update };
  }

  function queryPart(text) {
    const query = () => found.queries.get(text);
    const name = () => [h("span", { class: "badge" }, t(`find_query_${query().kind}`)), " ", h("span", { lang: langOf(text) }, text)];
    const empty = () => t(query().found === null ? "find_not_sent" : "find_nothing_new");
    return part(groupKey("query", text), t("find_papers_of", { name: text }), { "data-query": text }, name, empty);
  }

  function linkedPart(kind, id) {
    const name = t(`find_${kind}`);
    return part(groupKey(kind, id), name, { "data-linked": kind }, () => name, () => "");
  }

  return {
    /** Update the groups of these keys, and the rows of their papers. */
    update(keys) {
      for (const key of new Set(keys)) {
        const [kind] = key.split("\n", 1);
        const of = key.slice(kind.length + 1);
        if (key === queriesKey()) showQueries("", byId("tree-body"));
        else if (kind !== "query") rows.get(of)?.update();
        views.get(key)?.update();
        for (const id of found.group(key)) if (kind !== "evolved") rows.get(id)?.update();
      }
    },
  };
}
