// The columns of a search: how it was run, the results, the facets.

import { showConstraints } from "./constraints.js";
import { showDetails } from "./details.js";
import { byId, fill } from "./dom.js";
import { showExport } from "./exports.js";
import { showFacets } from "./facets.js";
import { showKeywords } from "./keywords.js";
import { showQueries } from "./queries.js";
import { showResults } from "./results.js";
import { remember } from "./searches_kept.js";

/** Show a result; `change(part, said)` repeats the search with one part changed. */
export async function showFound(result, asked, { manifest, address, before, change, signal }) {
  const nothing = result.hits.length ? undefined : await import("./nothing.js");
  if (signal.aborted) return;
  fill(byId("problem"));
  showKeywords(result, asked, (keywords, said) => change({ keywords, skip: keywords ? asked.skip : [] }, said));
  showConstraints(result, asked, change);
  showQueries(result, asked, (skip, said) => change({ skip }, said));
  showDetails(result, manifest);
  showResults(result, asked, before);
  nothing ? nothing.showNothing(result, asked, change) : fill(byId("nothing"));
  showExport(result);
  remember(address, { question: asked.question, method: asked.method, index: result.index ?? result.sources?.join(", "), hits: result.hits, version: result.version });
  result.sources ? fill(byId("facets")) : showFacets(result.facets, asked, change, signal);
}

/** Clear the columns. */
export function showNone() {
  for (const name of ["hits", "changes", "facets", "nothing", "keywords", "constraints", "queries", "details", "results-tools", "problem"]) fill(byId(name));
}
