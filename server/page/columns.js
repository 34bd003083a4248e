// The columns of a search: how it was run, the results, the facets.

import { showConstraints } from "./constraints.js";
import { byId, fill, h } from "./dom.js";
import { showExport } from "./exports.js";
import { showFacets } from "./facets.js";
import { t } from "./i18n.js";
import { showKeywords } from "./keywords.js";
import { showQueries } from "./queries.js";
import { showResults } from "./results.js";
import { remember } from "./searches_kept.js";

const STEP = 20;
const MOST_HITS = 1000;

/** Show a result; `change(part, said)` repeats the search with one part changed. */
export async function showFound(result, asked, { manifest, address, before, change, more, signal }) {
  const nothing = result.hits.length ? undefined : await import("./nothing.js");
  if (signal.aborted) return;
  fill(byId("problem"));
  showKeywords(result, asked, (keywords, said) => change({ keywords, skip: keywords ? asked.skip : [] }, said));
  showConstraints(result, asked, change);
  showQueries(result, asked, (skip, said) => change({ skip }, said));
  import("./details.js").then(({ showDetails }) => { if (!signal.aborted) showDetails(result, manifest); }, () => {});
  showResults(result, asked, before);
  showMore(result, asked, more);
  nothing ? nothing.showNothing(result, asked, change) : fill(byId("nothing"));
  showExport(result);
  remember(address, { question: asked.question, method: asked.method, index: result.index ?? result.sources?.join(", "), hits: result.hits, version: result.version });
  byId("total").textContent = result.facets ? t("total", { n: result.hits.length, total: result.facets.papers }) : t("papers", { n: result.hits.length });
  result.sources ? fill(byId("facets")) : showFacets(result.facets, asked, change, signal);
}

/** Offer more papers, unless all are listed: a list that is shorter than requested is complete. */
function showMore(result, { k }, more) {
  const complete = result.hits.length < k || k >= MOST_HITS;
  const next = Math.min(k + STEP, MOST_HITS);
  fill(byId("more"), !complete && h("button", { type: "button", "data-key": "more", onclick: () => more(next) }, t("more", { n: next - k })));
}

/** Clear the columns. */
export function showNone() {
  for (const name of ["hits", "changes", "facets", "nothing", "more", "keywords", "constraints", "queries", "details", "results-tools", "total", "problem"]) fill(byId(name));
}
