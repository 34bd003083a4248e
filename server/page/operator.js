// For the operator: indexes, what is being indexed, health, times, keys.

import { askForKey, openAccess, wantsKey } from "./access.js";
import { call } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { has, moment, number, t } from "./i18n.js";
import { openPreferences } from "./preferences.js";
import { describe, say, sayProblem } from "./status.js";

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

/** Make a table of records that share their keys. */
function table(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return h("table", { class: "table" },
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: "quiet" }, label(name))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, names.map((name) => h("td", { class: "number" }, written(row[name])))))));
}

function section(name, value) {
  const rows = Array.isArray(value) ? value : Object.values(value ?? {}).every((each) => each && typeof each === "object" && !Array.isArray(each)) ? Object.entries(value ?? {}).map(([key, each]) => ({ name: label(key), ...each })) : null;
  const empty = Array.isArray(value) ? value.length === 0 : value === null || value === undefined;
  const pairs = () => h("dl", { class: "pairs" }, Object.entries(value).map(([key, each]) => [h("dt", {}, label(key)), h("dd", { class: "number" }, key === "process" ? String(each) : written(each))]));
  return h("section", { "data-status": name, class: "column" }, h("h2", {}, label(name)),
    empty ? h("p", { class: "quiet" }, t("status_none")) : rows?.length && typeof rows[0] === "object" ? h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label(name) }, table(rows)) : typeof value === "object" ? pairs() : h("p", {}, written(value)));
}

async function show() {
  try {
    const status = await call("/api/v1/status");
    fill(byId("operator"), Object.entries(status).map(([name, value]) => section(name, value)));
    say(t("status_at", { time: new Date().toLocaleTimeString(document.documentElement.lang) }));
  } catch (error) {
    if (wantsKey(error)) askForKey(show);
    fill(byId("operator"), describe(error, show));
    sayProblem(error);
  }
}

openPreferences();
openAccess();
await show();
setInterval(() => { if (!document.hidden) show(); }, EVERY_MS);
