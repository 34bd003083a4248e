// A search as a value: parsed from and written to the address, and as the body of a call.

import { query } from "./api.js";
import { partOf } from "./papers.js";

const METHOD = "shrag";
export const RELEVANCE = "relevance";
const FILTERS = ["year", "lang", "journal", "author", "type"];
const TEXTS = ["index", "method", ...FILTERS, "sort", "way", "hops", "model"];
export const NOTHING = Object.freeze({
  question: "", index: "", method: METHOD, k: 10, year: "", lang: "", journal: "", author: "", type: "", sort: RELEVANCE,
  exclude: [], conditions: true, skip: [], ask: false, way: "", hops: "",
  strategy: null, // of the reader; null is the strategist's
  earlier: [], // questions that this one continues
  meant: "", // the question with the subject of the earlier ones, known when it is answered
  model: "", // that writes the answer; "" is the server's default
});

/** Create a search from a function that returns each part as text; missing ones are the default. */
export function made(part) {
  const k = Math.round(Number(part("k")));
  const texts = Object.fromEntries(TEXTS.map((name) => [name, (part(name) ?? "").trim() || NOTHING[name]]));
  return { ...NOTHING, ...texts, k: k >= 1 ? Math.min(k, 1000) : NOTHING.k };
}

/** Parse an address. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const all = (name) => given.getAll(name).filter(Boolean);
  return {
    ...made((name) => given.get(name)),
    question: given.get("q") ?? "",
    exclude: all("not"),
    conditions: !given.has("literal"),
    strategy: strategyIn(given.get("strategy")),
    skip: all("skip"),
    ask: given.has("ask"),
    earlier: all("after"),
  };
}

/** Parse the JSON of a strategy; the server checks its parts. */
function strategyIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Build the address of a search. */
export function toAddress(asked) {
  const unusual = [...TEXTS, "k"].map((name) => [name, asked[name] === NOTHING[name] ? "" : asked[name]]);
  const written = query({
    q: asked.question,
    ...Object.fromEntries(unusual),
    not: asked.exclude,
    literal: !asked.conditions && "1",
    strategy: asked.strategy && JSON.stringify(asked.strategy, (_, part) => part?.length === 0 ? undefined : part ?? undefined),
    skip: asked.skip,
    ask: asked.ask && "1",
    after: asked.earlier,
    hl: new URLSearchParams(location.search).get("hl"), // the language of a shared page
  });
  return written ? `/?${written}` : "/";
}

/** Return the body of a call without default values. */
export function body(asked) {
  const { index, method, k, sort, exclude, conditions, strategy, skip } = asked;
  const made = { question: asked.meant || asked.question, method, k };
  Object.assign(made, partOf(index));
  for (const name of FILTERS) if (asked[name]) made[name] = asked[name];
  if (sort !== RELEVANCE) made.sort = sort;
  if (exclude.length) made.exclude = exclude;
  if (!conditions) made.conditions = false;
  if (strategy) made.strategy = strategy;
  if (skip.length) made.skip = skip;
  return made;
}

/** The body for an answer, which uses the most relevant papers, as many as the settings say; ways over passages take neither a strategy nor a method. */
export function askBody(asked) {
  const { k, sort, ...made } = body({ ...asked, meant: "" });
  if (asked.earlier.length) made.earlier = asked.earlier;
  if (asked.hops) made.hops = asked.hops;
  if (asked.model) made.model = asked.model;
  if (!asked.way) return made;
  const { strategy, skip, method, ...plain } = made;
  return { ...(asked.way === METHOD ? made : plain), way: asked.way };
}
