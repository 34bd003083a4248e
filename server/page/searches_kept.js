// The searches of this session, stored in this browser.

const KEY = "shrag-history";
const MOST = 200;

/** Return the searches, the latest first. */
export function entries() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/** Replace the stored searches. */
export function keep(list) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // A browser that stores nothing has no history.
  }
}

/** Store a search and the number of its papers. */
export function remember(address, { question, method, index, hits, version }) {
  const rest = entries().filter((each) => each.address !== address);
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length }, ...rest].slice(0, MOST));
}
