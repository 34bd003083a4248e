// Access: the reader enters the key once, and the server keeps it in a cookie that no script can read.

import { call } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./i18n.js";
import { belongTo, forget } from "./kept.js";
import { sayProblem } from "./status.js";

export const SESSION = "/api/v1/session";
export const tabs = new BroadcastChannel("shrag-session");
let session = null;

tabs.onmessage = () => { forget(); location.reload(); };

/** Fetch the session; a server without keys needs none. */
export async function openAccess() {
  session = await call(SESSION).catch(() => null);
  belongTo(session?.signed_in && (session.person ?? session.key));
  byId("open-access").hidden = !session?.keys_needed;
  if (session?.sign_in || session?.person) byId("open-access").textContent = t(session.person ? "sign_out" : "sign_in");
  byId("open-access").onclick = () => askForKey(() => location.reload());
  byId("operator-link").hidden = !["librarian", "operator"].includes(session?.role);
}

/** Let the reader enter a key; `then` is called when it is accepted. */
export function askForKey(then) {
  const accepted = async () => { await openAccess(); then(); };
  import("./dialogs.js").then(({ openKeyDialog }) => openKeyDialog(session, accepted), () => sayProblem({ code: "offline" }));
}

/** Check whether an error asks for a key. */
export const wantsKey = (error) => error.status === 401;
