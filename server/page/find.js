// The page for finding papers: starts, shows, stops, opens and resumes searches.

import { askForKey, wantsKey } from "./access.js";
import { Problem, call, events } from "./api.js";
import { byId, fill } from "./dom.js";
import { NOTHING, body, fillForm, fromAddress, fromForm, fromRecord, showPure, toAddress } from "./finding_asked.js";
import { offerKept, showEnding, showNotes, showQueries, showSpent, showUnderstanding } from "./finding_column.js";
import { growingTree } from "./finding_tree.js";
import { addPapers, showNear, showPapers } from "./found_papers.js";
import { eventsOf, foundSoFar } from "./found_so_far.js";
import { growQuestion, indexes, leaveQuestion, listPlaces, openFrame, opens, sayQuiet, showExamples, view } from "./frame.js";
import { has, learn, t } from "./i18n.js";
import { placeOf } from "./papers.js";
import { describe, say, sayProblem } from "./status.js";

const TITLE = document.title;
const ADDRESS = "/api/v1/find-papers";
const SHOW_MS = 150; // papers that arrive within this time are shown together
let asked = NOTHING;
let shown = null; // the search on the page: its id if kept, its papers, its tree
let running = null; // stops the running search

const manifestOf = (name) => indexes.find((each) => each.name === name) ?? indexes[0];
const titleOf = (id) => shown.found.papers.get(id)?.title;

// Display

function show(on) {
  document.body.classList.toggle("asked", on);
  document.title = on && asked.question ? `${asked.question.slice(0, 80)} – ${TITLE}` : TITLE;
}

/** Clear the columns. */
function clear(index) {
  for (const name of ["hits", "near", "tree-body", "spent", "understanding", "notes", "problem", "ending", "results-tools", "offer"]) fill(byId(name));
  const found = foundSoFar();
  shown = { id: null, index, found, showTree: growingTree(found, index), later: undefined, record: null, spent: {} };
  show(true);
  view("results");
}

function searching(on) {
  const focused = document.activeElement;
  byId("begin").hidden = on;
  byId("stop").hidden = !on;
  if (on && focused.matches("#begin, #ending *, #problem *")) byId("stop").focus();
  if (!on && focused === byId("stop")) (document.querySelector('[data-ending] [data-key="go-on"]') ?? byId("begin")).focus();
}

const TAKE = {
  search({ id }) {
    shown.id = id;
    history.replaceState({ search: id }, "");
  },
  step(step) {
    const name = `find_step_${step.name}${step.layer && step.name === "judgement" ? "_layer" : ""}`;
    if (has(name)) say(t(name, step));
  },
  understanding: (understanding) => showUnderstanding(understanding),
  spent(spent) {
    shown.spent = spent;
    showSpent(spent, asked);
  },
};

function take(event) {
  TAKE[event.kind]?.(event.data);
  shown.found.take(event);
  shown.later ??= setTimeout(showChanged, SHOW_MS);
}

function showChanged() {
  clearTimeout(shown.later);
  shown.later = undefined;
  shown.showTree();
  showQueries(shown.found.queries);
  if (!shown.record) addPapers(shown.found.relevant(), shown.index, titleOf);
}

/** Show the end of a search: complete, interrupted, or kept. */
function finish(record, how) {
  shown.record = record;
  if (shown.id) history.replaceState({ search: shown.id, ended: true }, "");
  shown.index = placeOf(record) ?? shown.index;
  showChanged();
  showPapers(record.papers, shown.index, titleOf);
  showNear(record.near, shown.index);
  showSpent({ ...record.spent, relevant: record.relevant, known: record.known }, asked);
  showNotes(record.notes, record.note_codes);
  fill(byId("problem"));
  showEnding({ ...record, how, id: shown.id }, asked, goOn);
  const kind = !record.papers.length ? "none" : how === "stopped" ? "stopped" : record.complete ? "done" : "incomplete";
  say(t(`find_said_${kind}`, { n: record.papers.length, known: record.known }));
}

/** The record of the papers found so far, if no server can return it. */
function recordOfShown() {
  const { found } = shown;
  const papers = found.relevant().sort((one, other) => other.score - one.score).slice(0, asked.papers);
  return { papers: papers.map((paper) => ({ ...paper, relevance: paper.score })), known: found.papers.size, relevant: found.relevant().length, spent: shown.spent, complete: false, notes: [] };
}

/** Show an error: offer to resume a kept search, or else to retry. */
function failed(error, again) {
  sayProblem(error);
  if (shown.found.papers.size) showEnding({ ...recordOfShown(), how: "failed", id: shown.id }, asked, goOn, describe(error, shown.id ? undefined : again));
  else fill(byId("problem"), describe(error, again));
  if (wantsKey(error)) askForKey(() => { loadIndexes(); again(); });
}

// Search

/** Search; `resume` is the call that continues the shown search. */
async function search(next, resume) {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  asked = next;
  fillForm(asked);
  growQuestion();
  searching(true);
  if (resume) for (const name of ["near", "problem", "ending", "notes"]) fill(byId(name));
  else {
    const address = toAddress(asked);
    if (address === location.pathname + location.search) history.replaceState(null, "");
    else history.pushState(null, "", address);
    clear(asked.index || byId("index").value);
  }
  shown.record = null;
  say(t("find_begins"));
  let arrived = false;
  try {
    for await (const event of events(ADDRESS, resume ?? body(asked), signal)) {
      if (signal.aborted) return;
      arrived = true;
      if (event.kind === "done") { finish(event.data, "ended"); return; }
      if (event.kind === "error") throw new Problem(event.data);
      take(event);
    }
    throw new Problem({ code: "find-cut-off" });
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    showChanged();
    failed(arrived && error.code === "offline" ? new Problem({ code: "find-cut-off" }) : error, () => search(asked, resume));
  } finally {
    if (!signal.aborted) { running = null; searching(false); }
  }
}

/** Stop, and show the papers found so far, in their final order. */
async function stop() {
  leave();
  say(t("find_stopping"));
  const stopped = shown;
  const kept = shown.id && await settled(shown.id).catch(() => undefined);
  if (shown === stopped && !running) finish(kept || recordOfShown(), "stopped");
}

/** Read a kept search that is just ending: once it has ended, or after a while in its current state. */
async function settled(id) {
  for (let left = 10; ; left -= 1) {
    const record = await call(`${ADDRESS}/${id}`);
    if (!record.running || left === 0) return record;
    await new Promise((go) => { setTimeout(go, 200); });
  }
}

/** Continue the shown search, further or with another budget. */
function goOn(further) {
  const named = Object.entries(further).map(([name, value]) => [name, value === "" ? null : value]);
  return search({ ...asked, ...further }, { resume: shown.id, ...Object.fromEntries(named) });
}

/** End the running search, whose papers are kept. */
function leave() {
  running?.abort();
  running = null;
  searching(false);
}

async function openKept(id) {
  leave();
  say(t("find_opening"));
  try {
    const record = await settled(encodeURIComponent(id)); // the search may have been left just now
    asked = fromRecord(record);
    fillForm(asked);
    growQuestion();
    clear(asked.index);
    shown.id = id;
    for (const event of eventsOf(record)) take(event);
    finish(record, "kept");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    clear("");
    failed(error, () => openKept(id));
  }
}

/** Open the search of the address: a kept one, or a question that the reader starts. */
function open() {
  const kept = new URLSearchParams(location.search).get("search");
  if (kept) return openKept(kept);
  if (history.state?.ended) return openKept(history.state.search); // the reader returns to it
  leave();
  asked = fromAddress(location.search);
  fillForm(asked);
  growQuestion();
  show(false);
  say("");
  offerKept(asked, history.state?.search);
  offerExamples();
  return undefined;
}

const offerExamples = () => showExamples(manifestOf(byId("index").value), (question) => search({ ...fromForm(), question }));
const sayAbout = () => sayQuiet(indexes[0] && !indexes[0].language_model && t("find_without_model"));

async function loadIndexes() {
  if (await listPlaces(asked.index, () => loadIndexes().then(open))) sayAbout();
}

// Actions of the reader

byId("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  await listed;
  const next = fromForm();
  if (running) { byId("stop").focus(); return; }
  if (!next.question) { byId("question").focus(); return; }
  leaveQuestion();
  search(next);
});
byId("stop").addEventListener("click", stop);
byId("pure").addEventListener("change", showPure);
byId("index").addEventListener("change", () => { sayAbout(); if (!document.body.classList.contains("asked")) offerExamples(); });
opens("open-kept", ({ showKept }) => showKept((id) => { history.pushState(null, "", `/find?search=${id}`); openKept(id); }));
window.addEventListener("popstate", open);

await learn("find");
asked = fromAddress(location.search);
const listed = loadIndexes();
openFrame(() => byId("search").requestSubmit(), "search-link");
await listed;
open();
