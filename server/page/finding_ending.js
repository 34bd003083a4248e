// The end of a search for papers, and the next steps: continue it, further or with a larger budget.

import { query } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { BUDGET, EXTENT } from "./finding_asked.js";
import { t } from "./i18n.js";
import { showNote } from "./notes.js";

/** Describe the end; `goOn(further)` continues the search, `failure` describes an error. */
export function showEnding(record, asked, goOn, failure) {
  const { papers, complete, known, how, id, notes = [], note_codes: codes = [] } = record;
  const broken = failure || how === "stopped" || !complete;
  const none = !papers.length && (known > 0 ? t("find_none", { n: known }) : t("find_nothing"));
  const folded = broken && BUDGET.every((name) => asked[name] === "");
  const form = id && goingOn(further(asked, record), goOn, folded);
  if (!broken && !none) return fill(byId("ending"), form && h("details", { "data-further": true }, h("summary", {}, t("find_further")), form));
  const said = !failure && broken && t(how === "stopped" ? "find_stopped" : "find_incomplete");
  return fill(byId("ending"), h("div", { class: "box", role: "group", "data-ending": !broken ? "none" : failure ? "failed" : how },
    failure,
    failure && id && papers.length > 0 && h("p", {}, t("find_failed")),
    said && h("p", {}, h("b", {}, said)),
    broken && notes.map((text, at) => codes[at]?.code.startsWith("ended_") && h("p", { class: "quiet" }, showNote(text, codes[at]))),
    none && h("p", {}, broken ? none : h("b", {}, none)),
    none && !broken && h("p", { class: "quiet" }, t("find_advice")),
    form || (broken && h("p", { class: "quiet" }, t("find_not_kept")))));
}

/** The limits for continuing: the old budget in addition to the cost so far; after a complete search more of the exhausted limit. */
function further(asked, { complete, spent = {}, relevant, queries = [] }) {
  const next = { ...asked };
  for (const name of BUDGET) if (asked[name] !== "") next[name] += Math.ceil(spent[name.slice(4)] ?? 0);
  if (!complete) return next;
  const rounds = Math.max(0, ...queries.map(({ round }) => round));
  if (relevant >= asked.papers) next.papers += asked.papers;
  else if (rounds >= asked.rounds) next.rounds += 1;
  else next.layers += 1; // another round would find nothing new
  return next;
}

/** A form like the one above for the next step; its numbers are collapsed unless one of them ended the search. */
function goingOn(next, goOn, folded) {
  const fields = [...EXTENT, ...BUDGET].map((name) => {
    const like = byId(name);
    const field = like.cloneNode();
    field.removeAttribute("id");
    Object.assign(field, { name, required: EXTENT.includes(name), value: next[name] === "" ? "" : Math.min(next[name], like.max) });
    return [field, h("label", {}, like.labels[0].textContent.trim(), field)];
  });
  const begin = (event) => {
    event.preventDefault();
    goOn(Object.fromEntries(fields.map(([{ name, value }]) => [name, value === "" ? "" : Number(value)])));
  };
  const numbers = h("div", { class: "numbers" }, fields.map(([, label]) => label));
  return h("form", { class: "going-on", onsubmit: begin, "aria-label": t("find_go_on") },
    folded ? h("details", {}, h("summary", {}, t("find_bounds")), numbers) : numbers, h("button", { class: "primary", "data-key": "go-on" }, t("find_go_on")));
}

/** Before a search: show the search of the address, and offer the papers found before the page was left. */
export function offerKept(asked, id) {
  fill(byId("offer"),
    asked.question && h("p", {}, t("find_ready")),
    id && h("p", { "data-offer": id }, t("find_left"), " ", h("a", { href: `/find?${query({ search: id })}` }, t("find_open"))));
}
