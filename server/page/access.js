// Access: the reader enters the key once, and the server keeps it in a cookie that no script can read.

import { call } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./i18n.js";
import { clearMarks } from "./marks.js";
import { clearHistory, ownerIsKnown } from "./searches_kept.js";
import { sayProblem } from "./status.js";

export const ADDRESS = "/api/v1/session";
const WHO = "shrag-key"; // the id of the key whose searches this browser keeps
const tabs = new BroadcastChannel("shrag-session");
let session = null;

tabs.onmessage = () => { forget(); location.reload(); };

/** Remove the reader's data from this tab: marks, history, answers. */
function forget() {
  clearMarks();
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("shrag-")) sessionStorage.removeItem(name);
}

/** Remove the data of a previous key. */
function belongTo(key) {
  try {
    if (sessionStorage.getItem(WHO) !== key) forget();
    sessionStorage.setItem(WHO, key);
  } catch {
    // The browser stores nothing.
  }
}

async function leave() {
  const left = await call(ADDRESS, { method: "DELETE" });
  clearHistory();
  forget();
  tabs.postMessage("left");
  location.assign(left?.continue_at ?? "/"); // the session of the provider, or of the proxy
}

/** Fetch the session; a server without keys needs none. */
export async function openAccess() {
  try {
    session = await call(ADDRESS);
  } catch {
    session = null;
  }
  if (session?.signed_in) belongTo(session.person ?? session.key);
  ownerIsKnown();
  const keys = session?.keys_needed ?? false;
  byId("open-access").hidden = !keys;
  if (session?.sign_in || session?.person) byId("open-access").textContent = t(session.person ? "sign_out" : "sign_in");
  byId("open-access").onclick = () => askForKey(() => location.reload());
  byId("operator-link").hidden = !["librarian", "operator"].includes(session?.role);
  return session;
}

/** Let the reader enter a key; `then` is called when it is accepted. */
export function askForKey(then) {
  const accepted = async () => { await openAccess(); then(); };
  import("./key_dialog.js").then(({ openKeyDialog }) => openKeyDialog(session, { accepted, leave }), () => sayProblem({ code: "offline" }));
}

/** Check whether an error asks for a key. */
export const wantsKey = (error) => error.status === 401;
