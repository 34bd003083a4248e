// The state of a search for papers, built from its events: queries, papers, and what each of them found first.

/** The key of the papers found by a query (`query`), or by a paper's references (`reference`) or citing papers (`citing`). */
export const groupKey = (kind, of) => `${kind}\n${of}`;
/** The key of the queries evolved from a paper; without one, of the queries from the question. */
export const queriesKey = (paper) => groupKey("evolved", paper ?? "");

/** Collect the results; `take(event)` adds an event. */
export function foundSoFar() {
  const papers = new Map();
  const queries = new Map();
  const groups = new Map();
  const inGroup = (key) => groups.get(key) ?? groups.set(key, []).get(key);

  function takeQuery(query) {
    if (!queries.has(query.text)) inGroup(queriesKey(query.paper)).push(query.text);
    queries.set(query.text, { ...queries.get(query.text), ...query });
  }

  function takePaper(paper) {
    const known = papers.get(paper.id);
    papers.set(paper.id, { ...known, ...paper });
    const { kind, of } = papers.get(paper.id).found_by;
    if (!known) inGroup(groupKey(kind, of)).push(paper.id);
  }

  const TAKE = { queries: (data) => data.queries.forEach(takeQuery), papers: (data) => data.papers.forEach(takePaper) };
  return {
    papers,
    queries,
    take: ({ kind, data }) => TAKE[kind]?.(data),
    group: (key) => groups.get(key) ?? [],
    relevant: () => [...papers.values()].filter((paper) => paper.relevant),
  };
}

/** Yield the record of a complete search as the events that lead to it. */
export function* eventsOf(record) {
  const listed = new Map((record.papers ?? []).map((paper) => [paper.id, paper]));
  if (record.understanding) yield { kind: "understanding", data: record.understanding };
  yield { kind: "queries", data: { queries: record.queries ?? [] } };
  const papers = [];
  const walk = (nodes, found_by) => nodes.forEach((node, place) => {
    const { paper: id, references = [], cited_by: citing = [], evolved = [], ...told } = node;
    papers.push({ id, ...told, ...only(listed.get(id)), score: listed.get(id)?.relevance ?? told.score, found_by: { ...found_by, rank: place + 1 } });
    walk(references, { kind: "reference", of: id });
    walk(citing, { kind: "citing", of: id });
    evolved.forEach(walkQuery);
  });
  const walkQuery = (node) => walk(node.papers ?? [], { kind: "query", of: node.query });
  (record.tree ?? []).forEach(walkQuery);
  yield { kind: "papers", data: { papers } };
  if (record.spent) yield { kind: "spent", data: { ...record.spent, relevant: record.relevant, known: record.known } };
}

const only = ({ title, year, lang, reason, judged_by, relevant } = {}) => Object.fromEntries(
  Object.entries({ title, year, lang, reason, judged_by, relevant }).filter(([, value]) => value !== undefined));
