// The dialog for entering a key, or ending the session.

import { ADDRESS, wantsKey } from "./access.js";
import { call } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { learn, t } from "./i18n.js";
import { describe } from "./status.js";

await learn("dialogs");

/** Open the dialog, once; `accepted` is called with a valid key, `leave` ends the session. */
export function openKeyDialog(session, { accepted, leave }) {
  if (byId("dialogs").querySelector("[data-access]")) return;
  const dialog = openDialog(t("access"), (close) => {
    const problems = h("div", { "aria-live": "polite" });
    const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true, autofocus: true, spellcheck: "false" });
    async function enter(event) {
      event.preventDefault();
      try {
        await call(ADDRESS, { body: { key: key.value.trim() } });
      } catch (error) {
        problems.replaceChildren(describe(wantsKey(error) ? { code: "key-wrong" } : error));
        key.select();
        return;
      }
      close();
      accepted();
    }
    const form = h("form", { onsubmit: enter },
      h("p", {}, h("label", { for: "key" }, t("key"))),
      h("div", { class: "row" }, key, h("button", { class: "primary" }, t("key_enter"))));
    const signIn = session?.sign_in && !session.signed_in &&
      h("p", {}, h("a", { class: "button", href: `${session.sign_in}?next=${encodeURIComponent(location.pathname + location.search)}` }, t("sign_in")));
    const byKey = session?.person ? [] : [h("p", {}, t("key_about")), form];
    return [signIn, session?.signed_in && who(session), ...byKey, problems, session?.signed_in && out(problems)].filter(Boolean);
  });
  dialog.dataset.access = "";

  function out(problems) {
    const leaving = () => leave().catch((error) => problems.replaceChildren(describe(error)));
    return h("div", { class: "row" }, h("button", { type: "button", onclick: leaving }, t(session.person ? "sign_out" : "key_forget")));
  }
}

function who({ label, key, expires }) {
  const until = expires ? ` · ${t("key_until", { date: String(expires).slice(0, 10) })}` : "";
  return h("p", { class: "quiet" }, t("key_of", { label: label ?? key }), until);
}
