// What is asked of a search for papers, as a value: from and to the address and the form, and as the body of a call.

import { query } from "./api.js";
import { byId } from "./dom.js";
import { choose } from "./indexes.js";
import { partOf, placeOf } from "./places.js";

/** The agents that can be switched off; the last ones are what the project adds to the method. */
export const AGENTS = ["understanding", "query-writing", "judgement", "refchain", "evolver", "reranking"];
export const ADDITIONS = ["cited-by", "specific-intent", "links"];
export const BUDGET = ["max_calls", "max_tokens", "max_seconds", "max_papers"];
const TEXTS = ["index", "judge", "year", "lang", "journal"];
// The least and the most of each number; of a budget, nothing is without limit.
const NUMBERS = {
  papers: [1, 500], rounds: [0, 10], layers: [0, 3], threshold: [0, 1],
  max_calls: [0, 1e9], max_tokens: [0, 1e9], max_seconds: [1, 1e9], max_papers: [0, 1e9],
};
export const NOTHING = Object.freeze({
  question: "", index: "", papers: 20, rounds: 1, layers: 1, threshold: 0.5, judge: "brief", year: "", lang: "", journal: "",
  max_calls: "", max_tokens: "", max_seconds: "", max_papers: "", without: [], pure: false,
});

/** Read a number within its bounds; what is none is as when nothing is asked. */
function numberOf(name, text) {
  const [least, most] = NUMBERS[name];
  const value = name === "threshold" ? Number(text) : Math.round(Number(text));
  return String(text ?? "").trim() === "" || Number.isNaN(value) ? NOTHING[name] : Math.min(Math.max(value, least), most);
}

/** Make what is asked of a function that gives each part as text. */
function made(part, question, without, pure) {
  const texts = TEXTS.map((name) => [name, (part(name) ?? "").trim() || NOTHING[name]]);
  const numbers = Object.keys(NUMBERS).map((name) => [name, numberOf(name, part(name))]);
  return { ...NOTHING, ...Object.fromEntries([...texts, ...numbers]), question: question.trim(), without, pure };
}

/** Read what an address asks. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const without = given.getAll("without").filter((name) => AGENTS.includes(name) || ADDITIONS.includes(name));
  return made((name) => given.get(name), given.get("q") ?? "", without, given.has("pure"));
}

const isUsual = (asked, name) => String(asked[name]) === String(NOTHING[name]);
const unusual = (asked) => [...TEXTS, ...Object.keys(NUMBERS), "without", "pure"].filter((name) => !isUsual(asked, name)).map((name) => [name, asked[name]]);

/** Write the address that asks the same. */
export function toAddress(asked) {
  const parts = Object.fromEntries(unusual(asked));
  const written = query({ q: asked.question, ...parts, pure: asked.pure && "1", hl: new URLSearchParams(location.search).get("hl") });
  return written ? `/find?${written}` : "/find";
}

/** Return the body of a call; what is as always stays out. */
export function body(asked) {
  const { index, ...parts } = Object.fromEntries(unusual(asked));
  return { question: asked.question, ...partOf(index ?? ""), ...parts };
}

/** Fill the form with what is asked. */
export function fillForm(asked) {
  byId("question").value = asked.question;
  for (const name of [...TEXTS, ...Object.keys(NUMBERS)]) if (name !== "index") byId(name).value = asked[name];
  if (asked.index) choose(byId("index"), asked.index);
  byId("pure").checked = asked.pure;
  showPure();
  for (const name of [...AGENTS, ...ADDITIONS]) byId(`agent-${name}`).checked = !asked.without.includes(name);
}

/** What the project adds to the method is off where the method alone is asked for. */
export function showPure() {
  for (const name of ADDITIONS) byId(`agent-${name}`).disabled = byId("pure").checked;
}

/** Read what the form asks. */
export function fromForm() {
  const off = [...AGENTS, ...ADDITIONS].filter((name) => !byId(`agent-${name}`).checked);
  return made((name) => byId(name).value, byId("question").value, off, byId("pure").checked);
}

/** Read what a kept search asked: the body of its call, and where it looked. */
export function fromRecord(record) {
  const { request } = record;
  const text = (name) => String((name === "index" ? placeOf(record) : request[name]) ?? "");
  return made(text, request.question ?? "", request.without ?? [], Boolean(request.pure));
}
