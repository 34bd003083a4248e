// The papers that the reader has marked in this session, from all searches.

import { byId, h } from "./dom.js";
import { number } from "./i18n.js";

const KEY = "shrag-marked";
let papers = new Map(read());

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

function keep() {
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...papers]));
  } catch {
    // The browser stores nothing: the marks last as long as the page.
  }
  showCount();
}

const keyOf = (index, id) => `${index}\n${id}`;

export const isMarked = (index, id) => papers.has(keyOf(index, id));
export const markedPapers = () => [...papers.values()];

export function mark(index, id, title, on, url) {
  if (on) papers.set(keyOf(index, id), { index, id, title, url });
  else papers.delete(keyOf(index, id));
  keep();
}

export function clearMarks() {
  papers = new Map();
  keep();
  document.querySelectorAll("[data-mark]").forEach((box) => { box.checked = false; });
}

export function showCount() {
  const place = byId("marked-count");
  if (place) place.textContent = papers.size ? number(papers.size) : "";
}

/** Create the checkbox that marks a paper; a paper of a source has its own address, if any. */
export function markBox(index, id, title, label, url) {
  const box = h("input", { type: "checkbox", "data-mark": id, "data-key": `mark:${id}`, "aria-label": `${label}: ${title || id}`, onchange: () => mark(index, id, title, box.checked, url) });
  box.checked = isMarked(index, id);
  return h("label", {}, box, label);
}
