// How a search was run: its queries and details; each change repeats the search.

import { showDetails } from "./details.js";
import { learn } from "./i18n.js";
import { showQueries } from "./queries.js";

await learn("process");

/** Show the process of a result; `change(part, said)` repeats the search with one part changed. */
export function showProcess(result, asked, manifest, change) {
  showQueries(result, asked, (skip, said) => change({ skip }, said));
  showDetails(result, manifest);
}
