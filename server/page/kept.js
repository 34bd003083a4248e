// What this browser keeps: the marked papers of the session, and the searches until they are cleared.

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
let papers = new Map(stored(sessionStorage, MARKED));

function keepMarks() {
  store(sessionStorage, MARKED, [...papers]);
  showCount();
}

const keyOf = (index, id) => `${index}\n${id}`;
export const markedPapers = () => [...papers.values()];

export function mark(index, id, title, on, url) {
  if (on) papers.set(keyOf(index, id), { index, id, title, url });
  else papers.delete(keyOf(index, id));
  keepMarks();
}

export function clearMarks() {
  papers = new Map();
  keepMarks();
  document.querySelectorAll("[data-mark]").forEach((box) => { box.checked = false; });
}

export function showCount() {
  const place = byId("marked-count");
  if (place) place.textContent = papers.size ? number(papers.size) : "";
}

/** Create the checkbox that marks a paper; a paper of a source has its own address, if any. */
export function markBox(index, id, title, label, url) {
  const box = h("input", { type: "checkbox", "data-mark": id, "data-key": `mark:${id}`, "aria-label": `${label}: ${title || id}`, onchange: () => mark(index, id, title, box.checked, url) });
  box.checked = papers.has(keyOf(index, id));
  return h("label", {}, box, label);
}

export const HISTORY = "shrag-history";
const OWNER = "shrag-key"; // the key whose searches this browser keeps
const MOST = 200;
const MOST_TITLES = 50; // kept of a search; of further papers only the id
let ownerIsKnown;
const owned = new Promise((resolve) => { ownerIsKnown = resolve; });
const historyKey = () => [HISTORY, stored(sessionStorage, OWNER)].filter(Boolean).join(" ");

/** Remove the reader's data from this tab: marks, answers. */
export function forget() {
  clearMarks();
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("shrag-")) sessionStorage.removeItem(name);
}

/** Store searches for the owner of a key; without one, for everybody. The data of a previous key is removed. */
export function belongTo(key) {
  if (key && stored(sessionStorage, OWNER) !== key) forget();
  if (key) store(sessionStorage, OWNER, key);
  ownerIsKnown();
}

/** Return the searches, the latest first; those of another key are not shown. */
export const entries = () => stored(localStorage, historyKey()) ?? [];

/** Replace the stored searches. */
export const keep = (searches) => store(localStorage, historyKey(), searches);

/** Store a search and its papers, when the owner is known. */
export async function remember(address, { question, method, index, hits, version }) {
  await owned;
  const rest = entries().filter((each) => each.address !== address);
  const shown = hits.map(({ doc_id, title }, place) => (place < MOST_TITLES ? { doc_id, title } : { doc_id }));
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length, papers: shown }, ...rest].slice(0, MOST));
}
