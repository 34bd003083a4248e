// The searches of this browser, kept until they are cleared; those of another key are not shown.

const KEY = "shrag-history";
const OWNER = "shrag-key"; // the id of the key in use (access.js)
const MOST = 200;
const MOST_PAPERS = 50; // kept of a search

const key = () => [KEY, sessionStorage.getItem(OWNER)].filter(Boolean).join(" ");

/** Return the searches, the latest first. */
export function entries() {
  try {
    return JSON.parse(localStorage.getItem(key())) ?? [];
  } catch {
    return [];
  }
}

/** Replace the stored searches. */
export function keep(searches) {
  try {
    localStorage.setItem(key(), JSON.stringify(searches));
  } catch {
    // A browser that stores nothing has no history.
  }
}

/** Remove the searches of this browser, of all keys: other people may use it. */
export function clearHistory() {
  for (const name of Object.keys(localStorage)) if (name.startsWith(KEY)) localStorage.removeItem(name);
}

/** Store a search and its papers. */
export function remember(address, { question, method, index, hits, version }) {
  const rest = entries().filter((each) => each.address !== address);
  const papers = hits.slice(0, MOST_PAPERS).map(({ doc_id, title }) => ({ doc_id, title }));
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length, papers }, ...rest].slice(0, MOST));
}
