// A search as a value: parsed from and written to the address, and as the body of a call.

import { query } from "./api.js";
import { partOf } from "./places.js";

export const METHOD = "shrag";
export const RELEVANCE = "relevance";
const FILTERS = ["year", "lang", "journal", "author", "type"];
export const NOTHING = Object.freeze({
  question: "", index: "", method: METHOD, k: 10, year: "", lang: "", journal: "", author: "", type: "", sort: RELEVANCE,
  exclude: [], conditions: true, skip: [], ask: false, way: "", hops: "",
  strategy: null, // of the reader; null is the strategist's
  earlier: [], // questions that this one continues
  meant: "", // the question with the subject of the earlier ones, known when it is answered
  model: "", // that writes the answer; "" is the server's default
});

/** Parse an address. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const k = Number(given.get("k"));
  return {
    ...NOTHING,
    question: given.get("q") ?? "",
    index: given.get("index") ?? "",
    method: given.get("method") || METHOD,
    k: Number.isInteger(k) && k >= 1 && k <= 1000 ? k : NOTHING.k,
    ...Object.fromEntries(FILTERS.map((name) => [name, (given.get(name) ?? "").trim()])),
    sort: given.get("sort") || RELEVANCE,
    exclude: given.getAll("not").filter(Boolean),
    conditions: !given.has("literal"),
    strategy: strategyIn(given.get("strategy")),
    skip: given.getAll("skip").filter(Boolean),
    ask: given.has("ask"),
    way: given.get("way") ?? "",
    hops: given.get("hops") ?? "",
    model: given.get("model") ?? "",
    earlier: given.getAll("after").filter(Boolean),
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
  const values = {
    q: asked.question,
    index: asked.index,
    method: asked.method === METHOD ? "" : asked.method,
    k: asked.k === NOTHING.k ? "" : asked.k,
    ...Object.fromEntries(FILTERS.map((name) => [name, asked[name]])),
    sort: asked.sort === RELEVANCE ? "" : asked.sort,
    not: asked.exclude,
    literal: !asked.conditions && "1",
    strategy: asked.strategy && JSON.stringify(asked.strategy, (_, part) => part?.length === 0 ? undefined : part ?? undefined),
    skip: asked.skip,
    ask: asked.ask && "1",
    way: asked.way,
    hops: asked.hops,
    model: asked.model,
    after: asked.earlier,
    hl: new URLSearchParams(location.search).get("hl"), // the language of a shared page
  };
  const written = query(values);
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
