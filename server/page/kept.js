// What this browser keeps: marked papers with the tab, or for a reader who is signed in; the searches until they are cleared.

import { byId, h } from "./dom.js";
import { number } from "./i18n.js";

/** Return a stored value, undefined without one. */
export function stored(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Store a value; a browser that stores nothing, or has no room, keeps it as long as the page. */
export function store(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // see above
  }
}

const MARKED = "shrag-marked";
const OWNER = "shrag-key"; // the reader whose marks and searches this browser keeps
const ownKey = (name) => [name, stored(sessionStorage, OWNER)].filter(Boolean).join(" ");
const place = () => [stored(sessionStorage, OWNER) ? localStorage : sessionStorage, ownKey(MARKED)];
const keyOf = (index, id) => `${index}\n${id}`;
let papers = new Map(stored(...place()));
window.addEventListener("storage", ({ key }) => { if (key === ownKey(MARKED)) readMarks(); }); // another tab

function readMarks() {
  papers = new Map(stored(...place()));
  showMarks();
}

export const markedPapers = () => [...papers.values()];

/** Add these papers to the marked ones, or remove them. */
export function mark(changed, on) {
  for (const paper of changed) {
    if (on) papers.set(keyOf(paper.index, paper.id), paper);
    else papers.delete(keyOf(paper.index, paper.id));
  }
  store(...place(), [...papers]);
  showMarks();
}

/** Show the number of marked papers, and the state of all boxes. */
export function showMarks() {
  byId("marked-count").textContent = papers.size ? number(papers.size) : "";
  document.querySelectorAll("[data-mark]").forEach((box) => { box.checked = papers.has(keyOf(box.dataset.index, box.dataset.mark)); });
}

/** Create the checkbox that marks a paper; a paper of a source has its own address, if any. */
export function markBox(index, id, title, label, url) {
  const box = h("input", { type: "checkbox", "data-mark": id, "data-index": index, "data-key": `mark:${id}`, "aria-label": `${label}: ${title || id}`, onchange: () => mark([{ index, id, title, url }], box.checked) });
  box.checked = papers.has(keyOf(index, id));
  return h("label", {}, box, label);
}

const HISTORY = "shrag-history";
const MOST = 200;
const MOST_TITLES = 50; // kept of a search; of further papers only the id
let ownerIsKnown;
const owned = new Promise((resolve) => { ownerIsKnown = resolve; });

/** Remove the reader's data from a storage: marks, answers, searches. */
export function forget(storage = sessionStorage) {
  for (const name of Object.keys(storage)) if (name.startsWith("shrag-")) storage.removeItem(name);
}

/** Keep marks and searches for the owner of a key or a person; without one marks end with the tab. What the tab had of another reader is removed. */
export function belongTo(key) {
  if (key && stored(sessionStorage, OWNER) !== key) {
    forget();
    store(sessionStorage, OWNER, key);
    readMarks();
  }
  ownerIsKnown();
}

/** Return the searches, the latest first; those of another key are not shown. */
export const entries = () => stored(localStorage, ownKey(HISTORY)) ?? [];

/** Replace the stored searches. */
export const keep = (searches) => store(localStorage, ownKey(HISTORY), searches);

/** Store a search and its papers, when the owner is known. */
export async function remember(address, { question, method, index, hits, version }) {
  await owned;
  const rest = entries().filter((each) => each.address !== address);
  const shown = hits.map(({ doc_id, title }, place) => (place < MOST_TITLES ? { doc_id, title } : { doc_id }));
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length, papers: shown }, ...rest].slice(0, MOST));
}
