// Who may read: the key is typed once, and kept by the server in a cookie that no script can read.

import { call } from "./api.js";
import { byId } from "./dom.js";
import { clearMarks } from "./marks.js";
import { sayProblem } from "./status.js";

export const ADDRESS = "/api/v1/session";
const WHO = "shrag-key"; // the id of the key whose searches this browser keeps
const tabs = new BroadcastChannel("shrag-session");
let session = null;

tabs.onmessage = () => { forget(); location.reload(); };

/** Forget what this tab keeps of a reader: marks, history, answers. */
function forget() {
  clearMarks();
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("shrag-")) sessionStorage.removeItem(name);
}

/** Whoever comes with another key finds nothing of the one before. */
function belongTo(key) {
  try {
    if (sessionStorage.getItem(WHO) !== key) forget();
    sessionStorage.setItem(WHO, key);
  } catch {
    // A browser that keeps nothing.
  }
}

async function leave() {
  await call(ADDRESS, { method: "DELETE" });
  forget();
  tabs.postMessage("left");
  location.assign("/");
}

/** Ask the server who the reader is; a server without keys asks for none. */
export async function openAccess() {
  try {
    session = await call(ADDRESS);
  } catch {
    session = null;
  }
  if (session?.signed_in) belongTo(session.key);
  const keys = session?.keys_needed ?? false;
  byId("open-access").hidden = !keys;
  byId("open-access").onclick = () => askForKey(() => location.reload());
  byId("operator-link").hidden = keys && !session?.scopes?.includes("admin");
  return session;
}

/** Let the reader type a key; `then` is called when it is accepted. */
export function askForKey(then) {
  const accepted = async () => { await openAccess(); then(); };
  import("./key_dialog.js").then(({ openKeyDialog }) => openKeyDialog(session, { accepted, leave }), () => sayProblem({ code: "offline" }));
}

/** Tell whether an error asks for a key. */
export const wantsKey = (error) => error.status === 401;
