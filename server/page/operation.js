// The operator's actions: builds, verifications and backups as jobs with their output, and keys.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { has, moment, t } from "./i18n.js";
import { describe, say } from "./status.js";

const JOBS = "/api/v1/jobs";
const KEYS = "/api/v1/keys";
const opened = new Set(); // jobs whose output is shown
const labelled = (text, field) => h("label", { class: "stacked" }, text, field);
const named = (kind, name) => (has(`${kind}_${name}`) ? t(`${kind}_${name}`) : name);

/** Run an action; its problem is shown in `place`. */
async function act(place, action) {
  fill(place);
  try {
    await action();
  } catch (error) {
    fill(place, describe(error));
  }
}

/** Create the forms and the list of jobs; `changed` is called after a change. Return a function that shows new values. */
export function openOperation(place, changed) {
  const jobs = jobsSection(changed);
  const keys = keysSection(changed);
  fill(place, jobs.element, keys.element);
  return async (status) => {
    jobs.show(await call(JOBS), status);
    keys.show(status);
  };
}

function jobsSection(changed) {
  const problems = h("div", { "aria-live": "polite" });
  const list = h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": t("jobs") });
  const names = h("datalist", { id: "index-names" });
  const folders = h("datalist", { id: "corpus-folders" });
  const index = h("input", { name: "index", list: "index-names", required: true, maxlength: 64, spellcheck: "false", autocomplete: "off" });
  const path = h("input", { name: "path", list: "corpus-folders", required: true, spellcheck: "false", autocomplete: "off" });
  const rebuild = h("input", { type: "checkbox", name: "rebuild" });
  const verified = h("select", { name: "verified", required: true });
  const start = (body) => act(problems, async () => {
    const job = await call(JOBS, { body });
    opened.add(job.id);
    say(t("job_started"));
    await changed();
  });
  const build = h("form", { onsubmit: (event) => {
    event.preventDefault();
    start({ kind: "build", index: index.value.trim(), paths: [path.value.trim()], rebuild: rebuild.checked });
  } }, labelled(t("job_index"), index), labelled(t("job_path"), path), h("label", { class: "check" }, rebuild, t("job_rebuild")),
  h("button", { class: "primary" }, t("job_build")));
  const none = h("p", { class: "quiet" }, t("job_no_folders"));
  const verify = h("form", { onsubmit: (event) => {
    event.preventDefault();
    start({ kind: "verify", index: verified.value });
  } }, labelled(t("job_index"), verified), h("button", {}, t("job_verify")));
  const backup = h("button", { type: "button", onclick: () => start({ kind: "backup" }) }, t("job_backup"));
  const element = h("section", { class: "column", "data-operation": "jobs" }, h("h2", {}, t("jobs")),
    names, folders, none, build, verify, h("div", { class: "row" }, backup), problems, list);

  function show({ jobs, folders: allowed }, status) {
    const there = status.indexes.map(({ name }) => name);
    build.hidden = !allowed.length;
    none.hidden = !build.hidden;
    if (JSON.stringify([...verified.options].map(({ value }) => value)) !== JSON.stringify(there))
      fill(verified, there.map((name) => h("option", { value: name }, name)));
    verify.hidden = !there.length;
    fill(names, there.map((name) => h("option", { value: name })));
    fill(folders, allowed.map((folder) => h("option", { value: folder })));
    showJobs(jobs);
  }

  async function showJobs(jobs) {
    const rows = await Promise.all(jobs.slice(0, 20).map(row));
    fill(list, jobs.length ? h("table", { class: "table" }, h("thead", {}, h("tr", {},
      ["job_started_at", "job_kind", "job_index", "job_state", "job_by", "job_actions"].map((name) => h("th", { scope: "col", class: "quiet" }, t(name))))),
    h("tbody", {}, rows)) : h("p", { class: "quiet" }, t("job_none")));
  }

  async function row(job) {
    const shown = opened.has(job.id);
    const lines = shown ? (await call(`${JOBS}/${job.id}`).catch(() => ({ log: [] }))).log : [];
    const toggle = () => act(problems, () => {
      if (!opened.delete(job.id)) opened.add(job.id);
      return changed();
    });
    const stop = () => act(problems, async () => {
      await call(`${JOBS}/${job.id}`, { method: "DELETE" });
      await changed();
    });
    const actions = [
      h("button", { type: "button", "data-key": `log:${job.id}`, "aria-expanded": String(shown), onclick: toggle }, t("job_log")),
      job.state === "running" && h("button", { type: "button", "data-key": `stop:${job.id}`, onclick: stop }, t("job_stop")),
    ];
    return [
      h("tr", { "data-job": job.id }, h("td", {}, moment(job.started)), h("td", {}, named("job_kind", job.kind)), h("td", {}, job.index ?? "–"),
        h("td", {}, named("job_state", job.state)), h("td", {}, job.by), h("td", {}, actions)),
      shown && h("tr", {}, h("td", { colspan: 6 }, h("pre", { class: "log", lang: "en" }, lines.join("\n") || t("job_log_empty")))),
    ];
  }
  return { element, show };
}

function keysSection(changed) {
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
  const element = h("section", { class: "column", "data-operation": "keys" }, h("h2", {}, t("key_changes")), create, shown, revoke, problems);

  function show({ keys }) {
    const active = keys.filter(({ state }) => state === "active");
    if (JSON.stringify([...revoked.options].map(({ value }) => value)) !== JSON.stringify(active.map(({ id }) => id)))
      fill(revoked, active.map(({ id, label: owner }) => h("option", { value: id }, `${owner || "–"} (${id})`)));
    revoke.hidden = !active.length;
  }
  return { element, show };
}
