// The parts of a search: the results, their filters, and on demand how it was run.

import { RELEVANCE } from "./asked.js";
import { byId, fill, h } from "./dom.js";
import { showExport } from "./exports.js";
import { showFacets } from "./facets.js";
import { t } from "./i18n.js";
import { remember } from "./kept.js";
import { showResults } from "./results.js";
import { sayProblem } from "./status.js";
import { showStrategy } from "./strategy.js";

const STEP = 20;
const MOST_HITS = 1000;
const MOST_SORTED = 100; // by year or citations: a longer list would be another selection
const BEFORE_PRINT_MS = 3000; // then the folded process is loaded, because it is printed

let latest = () => {};
let loading;

/** Show how the latest search was run; the modules for it are loaded on first use. */
export async function openProcess() {
  try {
    latest(await (loading ??= import("./process.js")));
  } catch {
    loading = undefined;
    sayProblem({ code: "offline" });
  }
}

matchMedia("print").addEventListener("change", openProcess);

/** Show a result; `change(part, said)` repeats the search with one part changed. */
export async function showFound(result, asked, { manifest, address, before, change, more, signal }) {
  const nothing = result.hits.length ? undefined : await import("./why.js");
  if (signal.aborted) return;
  fill(byId("problem"));
  latest = ({ showProcess }) => showProcess(result, asked, manifest, change);
  if (!byId("how").hidden || loading) await openProcess();
  else setTimeout(openProcess, BEFORE_PRINT_MS);
  showStrategy(result, asked, manifest, change);
  showResults(result, asked, before);
  showMore(result, asked, more);
  nothing ? nothing.showNothing(result, asked, change) : fill(byId("nothing"));
  showExport(result);
  remember(address, { question: asked.question, method: asked.method, index: result.index ?? result.sources?.join(", "), hits: result.hits, version: result.version });
  byId("total").textContent = !result.hits.length ? "" : result.facets ? t("total", { n: result.hits.length, total: result.facets.papers }) : t("papers", { n: result.hits.length });
  result.sources ? fill(byId("facets")) : showFacets(result.facets, asked, change, signal);
}

/** Offer more papers, unless all are listed: a list that is shorter than requested is complete. */
function showMore(result, { k, sort }, more) {
  const most = sort === RELEVANCE ? MOST_HITS : MOST_SORTED;
  const complete = result.hits.length < k || k >= most;
  const next = Math.min(k + STEP, most);
  fill(byId("more"), !complete && h("button", { type: "button", "data-key": "more", onclick: () => more(next) }, t("more", { n: next - k })));
}

/** Clear the columns. */
export function showNone() {
  latest = () => {};
  for (const name of ["hits", "changes", "facets", "nothing", "more", "strategy", "queries", "details", "results-tools", "total", "problem"]) fill(byId(name));
}
