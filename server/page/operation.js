// The operator's actions: keys are created and revoked.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { describe, say } from "./status.js";

const KEYS = "/api/v1/keys";
const labelled = (text, field) => h("label", { class: "stacked" }, text, field);

/** Run an action; its problem is shown in `place`. */
async function act(place, action) {
  fill(place);
  try {
    await action();
  } catch (error) {
    fill(place, describe(error));
  }
}

/** Create the forms; `changed` is called after a change. Return a function that shows new values. */
export function openOperation(place, changed) {
  const problems = h("div", { "aria-live": "polite" });
  const shown = h("div", { "aria-live": "polite" });
  const label = h("input", { name: "label", maxlength: 100, autocomplete: "off" });
  const role = h("select", { name: "role" }, ["reader", "librarian", "operator"].map((name) => h("option", { value: name }, t(`key_role_${name}`))));
  const expires = h("input", { name: "expires", maxlength: 20, placeholder: "90d", autocomplete: "off", spellcheck: "false" });
  const revoked = h("select", { name: "revoked", required: true });
  const create = h("form", { onsubmit: (event) => {
    event.preventDefault();
    act(problems, async () => {
      const made = await call(KEYS, { body: { label: label.value, role: role.value, expires: expires.value.trim() } });
      fill(shown, h("p", {}, t("key_once")), h("p", {}, h("code", { "data-new-key": "" }, made.key)));
      create.reset();
      await changed();
    });
  } }, labelled(t("key_label"), label), labelled(t("key_role"), role), labelled(t("key_expires"), expires),
  h("button", { class: "primary" }, t("key_create")));
  const revoke = h("form", { onsubmit: (event) => {
    event.preventDefault();
    if (!confirm(t("key_revoke_sure", { label: revoked.selectedOptions[0]?.textContent }))) return;
    act(problems, async () => {
      await call(`${KEYS}/${encodeURIComponent(revoked.value)}`, { method: "DELETE" });
      say(t("key_revoked"));
      await changed();
    });
  } }, labelled(t("key_active"), revoked), h("button", {}, t("key_revoke")));
  fill(place, h("section", { class: "column", "data-operation": "keys" }, h("h2", {}, t("key_changes")), create, shown, revoke, problems));

  return ({ keys }) => {
    const active = keys.filter(({ state }) => state === "active");
    if (JSON.stringify([...revoked.options].map(({ value }) => value)) !== JSON.stringify(active.map(({ id }) => id)))
      fill(revoked, active.map(({ id, label: owner }) => h("option", { value: id }, `${owner || "–"} (${id})`)));
    revoke.hidden = !active.length;
  };
}
