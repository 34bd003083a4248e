// A search for papers as a value: parsed from and written to the address and the form, and as the body of a call.

import { query } from "./api.js";
import { byId } from "./dom.js";
import { choose } from "./frame.js";
import { partOf, placeOf } from "./papers.js";

/** Limits of a search; an absent value means no limit. */
export const EXTENT = ["papers", "rounds", "layers", "threshold"];
export const BUDGET = ["max_calls", "max_tokens", "max_seconds", "max_papers"];
const TEXTS = ["index", "judge", "year", "lang", "journal"];
// Defaults and bounds of the numbers, and the agents, as rendered into the form by the server.
const NUMBERS = [...EXTENT, ...BUDGET];
const agents = () => [...document.querySelectorAll("[data-agent]")];
const usual = (name) => (byId(name).defaultValue === "" ? "" : Number(byId(name).defaultValue));
export const NOTHING = Object.freeze({
  question: "", index: "", judge: "brief", year: "", lang: "", journal: "", without: [], pure: false,
  ...Object.fromEntries(NUMBERS.map((name) => [name, usual(name)])),
});

/** Read a number within its bounds; an invalid one counts as the default. */
function numberOf(name, text) {
  const { min, max, step } = byId(name);
  const value = step === "1" ? Math.round(Number(text)) : Number(text);
  return String(text ?? "").trim() === "" || Number.isNaN(value) ? NOTHING[name] : Math.min(Math.max(value, Number(min)), Number(max));
}

/** Create a search from a function that returns each part as text. */
function made(part, question, without, pure) {
  const texts = TEXTS.map((name) => [name, (part(name) ?? "").trim() || NOTHING[name]]);
  const numbers = NUMBERS.map((name) => [name, numberOf(name, part(name))]);
  return { ...NOTHING, ...Object.fromEntries([...texts, ...numbers]), question: question.trim(), without, pure };
}

/** Parse an address. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const without = agents().map((box) => box.dataset.agent).filter((name) => given.getAll("without").includes(name));
  return made((name) => given.get(name), given.get("q") ?? "", without, given.has("pure"));
}

const isUsual = (asked, name) => String(asked[name]) === String(NOTHING[name]);
const unusual = (asked) => [...TEXTS, ...NUMBERS, "without", "pure"].filter((name) => !isUsual(asked, name)).map((name) => [name, asked[name]]);

/** Build the address of a search. */
export function toAddress(asked) {
  const parts = Object.fromEntries(unusual(asked));
  const written = query({ q: asked.question, ...parts, pure: asked.pure && "1", hl: new URLSearchParams(location.search).get("hl") });
  return written ? `/find?${written}` : "/find";
}

/** Return the body of a call without default values. */
export function body(asked) {
  const { index, ...parts } = Object.fromEntries(unusual(asked));
  return { question: asked.question, ...partOf(index ?? ""), ...parts };
}

/** Fill in the form. */
export function fillForm(asked) {
  byId("question").value = asked.question;
  for (const name of [...TEXTS, ...NUMBERS]) if (name !== "index") byId(name).value = asked[name];
  if (asked.index) choose(byId("index"), asked.index);
  byId("pure").checked = asked.pure;
  showPure();
  for (const box of agents()) box.checked = !asked.without.includes(box.dataset.agent);
}

/** Switch off the project's additions if only the published method is chosen. */
export function showPure() {
  for (const box of agents()) box.disabled = "addition" in box.dataset && byId("pure").checked;
}

/** Read the form. */
export function fromForm() {
  const off = agents().filter((box) => !box.checked).map((box) => box.dataset.agent);
  return made((name) => byId(name).value, byId("question").value, off, byId("pure").checked);
}

/** Read the request of a kept search: the body of its call, and its index or sources. */
export function fromRecord(record) {
  const { request } = record;
  const text = (name) => String((name === "index" ? placeOf(record) : request[name]) ?? "");
  return made(text, request.question ?? "", request.without ?? [], Boolean(request.pure));
}
