// How a search was run: its keywords, its queries, and details; each change repeats the search.

import { showDetails } from "./details.js";
import { showKeywords } from "./keywords.js";
import { showQueries } from "./queries.js";

/** Show the process of a result; `change(part, said)` repeats the search with one part changed. */
export function showProcess(result, asked, manifest, change) {
  showKeywords(result, asked, (keywords, said) => change({ keywords, skip: keywords ? asked.skip : [] }, said));
  showQueries(result, asked, (skip, said) => change({ skip }, said));
  showDetails(result, manifest);
}
