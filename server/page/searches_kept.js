// The searches of this session, as this browser keeps them.

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

/** Keep these searches instead. */
export function keep(list) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // A browser that keeps nothing has no history.
  }
}

/** Remember a search and how many papers it showed. */
export function remember(address, { question, method, index, hits, version }) {
  const rest = entries().filter((each) => each.address !== address);
  keep([{ at: new Date().toISOString(), address, question, method, index, version, hits: hits.length }, ...rest].slice(0, MOST));
}
