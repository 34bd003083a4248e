// The page: the address contains the search; a search fills the columns, an answer appears beside them.

import { askForKey, wantsKey } from "./access.js";
import { Problem, call } from "./api.js";
import { NOTHING, body, fromAddress, made, toAddress } from "./asked.js";
import { showFound, showNone } from "./columns.js";
import { byId, fill, h, leavePassage, toggles } from "./dom.js";
import { choose, growQuestion, indexes, leaveQuestion, listPlaces, offerModels, openFrame, opens, sayQuiet, showExamples, view } from "./frame.js";
import { t } from "./i18n.js";
import { isSources } from "./papers.js";
import { describe, say, sayProblem } from "./status.js";

// Modules that the first view does not need are loaded on demand.
const load = (file) => import(file).catch(() => { throw new Problem({ code: "offline", status: 0 }); });
const expert = () => load("./expert.js");
const answers = () => load("./answer.js");

const TITLE = document.title;
const LONGEST_ADDRESS = 12_000; // characters; servers and mail programs accept no more
const HOW = "#how"; // the end of an address with the search process open
let asked = NOTHING;
let result = null;
let searching = new AbortController();
let answering = new AbortController();
const manifestOf = (name) => indexes.find((each) => each.name === name) ?? (indexes.length === 1 && !isSources(name ?? "") ? indexes[0] : undefined);

// The form

function fillForm() {
  byId("question").value = asked.question;
  if (asked.index) choose(byId("index"), asked.index);
  sayAbout();
  for (const name of ["method", "k", "year", "lang", "journal", "author", "type", "sort", "way", "hops"]) byId(name).value = asked[name];
  if (byId("model")) byId("model").value = asked.model;
  byId("exclude").value = asked.exclude.join(", ");
  byId("literal").checked = !asked.conditions;
  setExpert(asked.method === "boolean");
  growQuestion();
}

function fromForm() {
  const said = {
    ...made((name) => byId(name)?.value ?? asked[name]),
    question: byId("question").value.trim(),
    exclude: byId("exclude").value.split(",").map((text) => text.trim()).filter(Boolean),
    conditions: !byId("literal").checked,
  };
  // The same question keeps the edited strategy and queries.
  const same = said.question === asked.question && said.method === asked.method && said.index === (asked.index || said.index);
  return same ? { ...said, strategy: asked.strategy, skip: asked.skip, earlier: asked.earlier } : said;
}

async function setExpert(on, chosen) {
  if (on || document.body.classList.contains("expert-mode")) (await expert()).showExpert(on, chosen);
}

function clearExpressionError() {
  byId("question").removeAttribute("aria-invalid");
  fill(byId("expression-error"));
}

/** Write the search into the address; a text too long for it is kept in the history's entry. */
function remain(address) {
  const part = byId("how").hidden ? "" : HOW;
  if (address.length > LONGEST_ADDRESS) history.pushState({ asked }, "", `/${part}`);
  else history.pushState(null, "", address + part);
}

const remembered = (state) => state?.asked ?? fromAddress(location.search);

// Search

const search = (signal) => call("/api/v1/search", { body: { ...body(asked), facets: true }, signal });

/**
 * Search, and answer on request; `before` are the hits of the search that was edited, `find` is another search function.
 * With `only` the same papers are listed further or in another order, and the answer remains.
 */
async function run(next, { before, find = search, push = true, again = false, message = "", only = false } = {}) {
  searching.abort();
  if (!only) answering.abort();
  searching = new AbortController();
  const { signal } = searching;
  asked = next;
  const address = toAddress(asked);
  if (push && address !== location.pathname + location.search) remain(address);
  fillForm();
  clearExpressionError();
  if (!only) leavePassage();
  if (!asked.question) return start();
  document.title = `${asked.question.slice(0, 80)} – ${TITLE}`;
  document.body.classList.add("asked");
  if (!before && !only) view(asked.ask ? "answer" : "results");
  byId("results").setAttribute("aria-busy", "true");
  say(message ? `${message} ${t("searching")}` : t("searching"));
  const asks = asked.ask && !only;
  if (asks) document.body.classList.add("answering");
  else if (!only) before ? answerIsOfBefore() : closeAnswer();
  const answer = asks ? startAnswer(again) : undefined;
  try {
    // A further question is searched for with its subject, which its answer names.
    if (asks && asked.earlier.length) asked = { ...asked, meant: (await answer)?.question ?? "" };
    const found = await find(signal);
    if (signal.aborted) return undefined;
    result = found;
    showFound(result, asked, { manifest: manifestOf(result.index), address, before, change, more, signal });
    const said = result.hits.length ? t("found", { n: result.hits.length, ms: Math.round(result.milliseconds?.total ?? 0) }) : t("nothing_found");
    say([message, said, asks && saidOfAnswer()].filter(Boolean).join(" "));
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return undefined;
    if (!(error instanceof Problem)) throw error;
    await showProblem(error, find);
  } finally {
    if (!signal.aborted) byId("results").removeAttribute("aria-busy");
  }
  return answer;
}

/** Return the status of the answer, or its message if it arrived before the search's hits. */
function saidOfAnswer() {
  const ended = document.querySelector("#answer-body [aria-busy=false]") && byId("status");
  return (document.querySelector("#answer-body [data-waiting]") ?? ended)?.textContent;
}

async function showProblem(error, find) {
  result = null;
  showNone();
  sayProblem(error);
  if (error.code === "bad-expression") return (await expert()).showExpressionError(error, asked.question);
  fill(byId("problem"), describe(error, () => run(asked, { push: false, find })));
  if (wantsKey(error)) askForKey(() => { loadIndexes(); run(asked, { push: false, find }); });
  return undefined;
}

/** Repeat the search with one part changed, and show the differences. */
function change(part, message) {
  const question = asked.meant || asked.question;
  return run({ ...asked, question, meant: "", earlier: [], ...part, ask: false }, { before: result?.hits ?? [], message });
}

/** List more papers, and move the focus to the first of them. */
async function more(k) {
  const shown = result.hits.length;
  await run({ ...asked, k }, { only: true });
  byId("hits").children[shown]?.querySelector("a, button")?.focus();
}

function ask() {
  view("answer");
  return run({ ...asked, ask: true }, { before: undefined, again: true });
}

/** Ask a further question, or for a second answer. */
function goOn(part) {
  view("answer");
  return run({ ...asked, meant: "", ...part, ask: true });
}

async function startAnswer(again = false) {
  answering = new AbortController();
  const { signal } = answering;
  const question = asked; // another search may start while the script loads
  const loaded = await answers().catch(() => undefined);
  return signal.aborted ? undefined : loaded?.showAnswer(question, {
    signal,
    again,
    repeat: () => { answering.abort(); startAnswer(true); },
    useStrategy: (strategy) => change({ strategy, exclude: [], skip: [] }),
    goOn,
  });
}

// Display

function start() {
  document.body.classList.remove("asked");
  document.title = TITLE;
  say("");
  result = null;
  showExamples(manifestOf(byId("index").value), (question) => run({ ...fromForm(), question }));
  sayAbout();
}

/** Report a missing language model, and missing vectors of the chosen index. */
function sayAbout() {
  const chosen = manifestOf(byId("index").value);
  const first = chosen ?? indexes[0];
  sayQuiet(first && !first.language_model && t("without_model"), chosen && !chosen.vectors && t("without_vectors"));
}

async function loadIndexes() {
  if (!await listPlaces(asked.index, () => loadIndexes().then(() => run(asked, { push: false })))) return;
  await offerModels(asked.model);
  sayAbout();
}

// The answer's column: opened by Ask, closed by a new search, or with the answer of an earlier search

const column = byId("answer-body");

function closeAnswer() {
  delete column.dataset.answers;
  fill(column);
  document.body.classList.remove("answering");
}

/** Report that the search has changed; the old answer stays until a new one is requested. */
function answerIsOfBefore() {
  if (!column.dataset.answers) closeAnswer();
  else if (!column.querySelector("[data-before]"))
    column.prepend(h("div", { class: "box", "data-before": true }, h("p", {}, t("answer_of_before")), h("p", {}, h("button", { type: "button", onclick: ask }, t("ask_again")))));
}

// Actions of the reader

byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const next = fromForm();
  if (!next.question) { byId("question").focus(); return; }
  leaveQuestion();
  run({ ...next, ask: event.submitter?.name === "ask" }, { again: event.submitter?.name === "ask" });
});
openFrame((control) => byId("search").requestSubmit(control ? byId("ask") : undefined), "find-link");
byId("question").addEventListener("input", clearExpressionError);
byId("expert").addEventListener("click", () => {
  const on = byId("method").value !== "boolean";
  byId("method").value = on ? "boolean" : NOTHING.method;
  setExpert(on, true);
});
byId("method").addEventListener("change", () => setExpert(byId("method").value === "boolean"));
byId("sort").addEventListener("change", () => run({ ...asked, sort: byId("sort").value }, { only: true }));
byId("index").addEventListener("change", () => (asked.question ? run({ ...fromForm(), strategy: null, skip: [] }) : start()));
opens("open-history", ({ showHistory }) => showHistory((address, before) => { closeAnswer(); view("results"); run(fromAddress(address.slice(1)), { before }); }));
opens("open-record", ({ showRecord }) => showRecord(asked, (again, before, find) => run(again, { before, find })));
window.addEventListener("popstate", (event) => run(remembered(event.state), { push: false }));

toggles("open-how", (on) => {
  byId("how").hidden = !on;
  history.replaceState(history.state, "", location.pathname + location.search + (on ? HOW : ""));
});
toggles("open-filters", (on) => {
  document.body.classList.toggle("filtering", on);
  byId(on ? "filters" : "open-filters").focus();
});
byId("close-filters").addEventListener("click", () => byId("open-filters").click());
if (location.hash === HOW) byId("open-how").click();
asked = remembered(history.state);
const listed = loadIndexes();
if (asked.question) {
  if (!asked.index) await listed; // the first index is the default
  run({ ...asked, index: asked.index || byId("index").value }, { push: false });
} else {
  if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) byId("question").focus();
  await listed;
  if (!asked.question) start(); // unless the reader was faster
}
