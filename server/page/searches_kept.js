// The searches of this browser, kept until they are cleared; those of another key are not shown.

const KEY = "shrag-history";
const OWNER = "shrag-key"; // the id of the key in use (access.js)
const MOST = 200;
const MOST_TITLES = 50; // kept of a search; of further papers only the id

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

let ownerIsKnown;
const owned = new Promise((resolve) => { ownerIsKnown = resolve; });

/** Let searches be stored: access.js has set the owner. */
export { ownerIsKnown };

/** Store a search and its papers, when the owner is known. */
export async function remember(address, { question, method, index, hits, version }) {
  await owned;
  const rest = entries().filter((each) => each.address !== address);
  const papers = hits.map(({ doc_id, title }, place) => (place < MOST_TITLES ? { doc_id, title } : { doc_id }));
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length, papers }, ...rest].slice(0, MOST));
}
