// The operator's view: indexes, running builds, health, times; keys are created and revoked.

import { askForKey, wantsKey } from "./access.js";
import { call } from "./api.js";
import { byId, fill, h, morph } from "./dom.js";
import { has, learn, moment, number, t } from "./i18n.js";
import { openTools } from "./frame.js";
import { attempt, describe, say, sayProblem } from "./status.js";

const KEYS = "/api/v1/keys";
const labelled = (text, field) => h("label", { class: "stacked" }, text, field);

/** Create the forms; `changed` is called after a change. Return a function that shows new values. */
function openOperation(place, changed) {
  const problems = h("div", { "aria-live": "polite" });
  const shown = h("div", { "aria-live": "polite" });
  const label = h("input", { name: "label", maxlength: 100, autocomplete: "off" });
  const role = h("select", { name: "role" }, ["reader", "librarian", "operator"].map((name) => h("option", { value: name }, t(`key_role_${name}`))));
  const expires = h("input", { name: "expires", maxlength: 20, placeholder: "90d", autocomplete: "off", spellcheck: "false" });
  const revoked = h("select", { name: "revoked", required: true });
  const create = h("form", { onsubmit: (event) => {
    event.preventDefault();
    attempt(problems, async () => {
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
    attempt(problems, async () => {
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

const EVERY_MS = 10_000;
const label = (name) => (has(`status_${name}`) ? t(`status_${name}`) : name.replaceAll("_", " "));

function written(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (typeof value === "number") return number(value, Number.isInteger(value) ? 0 : 1);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return moment(value);
  if (Array.isArray(value)) return value.map(written).join(", ") || "–";
  if (typeof value === "object") return Object.entries(value).map(([name, each]) => `${label(name)} ${written(each)}`).join(" · ") || "–";
  return String(value);
}

/** Create a table of records with the same keys. */
function table(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return h("table", { class: "table" },
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: "quiet" }, label(name))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, names.map((name) => h("td", { class: "number" }, written(row[name])))))));
}

const pairs = (record) => h("dl", { class: "pairs" }, Object.entries(record).map(([name, value]) =>
  [h("dt", {}, label(name)), h("dd", { class: "number" }, name === "process" ? String(value) : written(value))]));

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Return records as the rows of a table, the fields of one record by name; undefined for other values. */
function rowsOf(value) {
  if (Array.isArray(value)) return value.every(isRecord) ? value : undefined;
  const named = Object.entries(value);
  return named.every(([, each]) => isRecord(each)) ? named.map(([name, each]) => ({ name: label(name), ...each })) : undefined;
}

function content(name, value) {
  const none = value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
  if (none) return h("p", { class: "quiet" }, t("status_none"));
  if (typeof value !== "object") return h("p", {}, written(value));
  const rows = rowsOf(value);
  if (rows) return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label(name) }, table(rows));
  return Array.isArray(value) ? h("p", {}, written(value)) : pairs(value);
}

// Values that change on every refresh are not news.
const COUNTED = ["server", "work", "times", "searches_days", "searches_indexes", "searches_words"];
const NO_NEWS = ["last_used", "today"]; // of a key
const told = (value) => JSON.stringify(value, (name, each) => (NO_NEWS.includes(name) ? undefined : each));
let before;
let showOperation;

async function show() {
  const place = byId("operator");
  try {
    // Librarians see the statistics alone.
    const status = await call("/api/v1/status").catch((error) => { if (error.status !== 403) throw error; return {}; });
    const statistics = await call("/api/v1/statistics");
    for (const name of ["days", "indexes", "words", "without_results"]) status[`searches_${name}`] = statistics[name];
    const fresh = place.cloneNode();
    fresh.append(...Object.entries(status).map(([name, value]) => h("section", { "data-status": name, class: "column" }, h("h2", {}, label(name)), content(name, value))));
    morph(place, fresh);
    byId("status-time").textContent = t("status_at", { time: new Date().toLocaleTimeString(document.documentElement.lang) });
    const news = Object.keys(status).filter((name) => !COUNTED.includes(name) && told(status[name]) !== told(before?.[name]));
    if (!before) say(t("status_shown"));
    else if (news.length) say(t("status_changed", { names: news.map(label).join(", ") }));
    before = status;
    if (!status.keys) return; // a librarian
    showOperation ??= openOperation(byId("operation"), show);
    showOperation(status);
  } catch (error) {
    if (wantsKey(error)) askForKey(show);
    fill(place, describe(error, show));
    if (before !== null) sayProblem(error); // once
    before = null;
  }
}

openTools();
await learn("operator");
await show();
setInterval(() => { if (!document.hidden) show(); }, EVERY_MS);
