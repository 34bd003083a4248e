// Who may read: the key is typed once, and kept by the server in a cookie that no script can read.

import { call } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { t } from "./i18n.js";
import { clearMarks } from "./marks.js";
import { describe } from "./status.js";

const ADDRESS = "/api/v1/session";
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
  if (byId("dialogs").querySelector("[data-access]")) return;
  const dialog = openDialog(t("access"), (close) => {
    const problems = h("div", { "aria-live": "polite" });
    const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true, autofocus: true, spellcheck: "false" });
    const form = h("form", { onsubmit: async (event) => {
      event.preventDefault();
      try {
        await call(ADDRESS, { body: { key: key.value.trim() } });
        close();
        await openAccess();
        then();
      } catch (error) {
        problems.replaceChildren(describe(wantsKey(error) ? { code: "key-wrong" } : error));
        key.select();
      }
    } }, h("p", {}, h("label", { for: "key" }, t("key"))), h("div", { class: "row" }, key, h("button", { class: "primary" }, t("key_enter"))));
    const who = session?.signed_in && h("p", { class: "quiet" }, t("key_of", { label: session.label ?? session.key }), session.expires ? ` · ${t("key_until", { date: String(session.expires).slice(0, 10) })}` : "");
    const leaving = () => leave().catch((error) => problems.replaceChildren(describe(error)));
    const out = session?.signed_in && h("div", { class: "row" }, h("button", { type: "button", onclick: leaving }, t("key_forget")));
    return [h("p", {}, t("key_about")), who, form, problems, out].filter(Boolean);
  });
  dialog.dataset.access = "";
}

/** Tell whether an error asks for a key. */
export const wantsKey = (error) => error.status === 401;
