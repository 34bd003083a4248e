// How a search for papers ended, and what can be done then: go on within a larger budget, or ask otherwise.

import { query } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { BUDGET } from "./finding_asked.js";
import { t } from "./i18n.js";

/** Say how it ended; `goOn(budget)` goes on with it. */
export function showEnding({ papers, complete, spent = {}, known, how, id }, asked, goOn) {
  const broken = how === "stopped" || how === "failed" || !complete;
  const said = how === "stopped" ? t("find_stopped") : how === "failed" ? t("find_failed") : !complete && t("find_incomplete");
  const none = !papers.length && (known > 0 ? t("find_none", { n: known }) : t("find_nothing"));
  if (!broken && !none) return fill(byId("ending"));
  return fill(byId("ending"), h("div", { class: "box", role: "group", "data-ending": broken ? how : "none" },
    said && h("p", {}, h("b", {}, said)),
    none && h("p", {}, broken ? none : h("b", {}, none)),
    none && !broken && h("p", { class: "quiet" }, t("find_advice")),
    broken && (id ? goingOn(asked, spent, goOn) : h("p", { class: "quiet" }, t("find_not_kept")))));
}

/** A form for the budget of what comes next: that of before on top of what was spent. */
function goingOn(asked, spent, goOn) {
  const fields = BUDGET.map((name) => {
    const part = name.slice(4);
    const field = h("input", { type: "number", min: 1, step: 1, name, placeholder: t("find_unlimited"), value: asked[name] === "" ? "" : Math.ceil(spent[part] ?? 0) + Number(asked[name]) });
    return [name, field, h("label", {}, t(part === "papers" ? "find_judged" : `find_${part}`), field)];
  });
  const begin = (event) => {
    event.preventDefault();
    goOn(Object.fromEntries(fields.map(([name, field]) => [name, field.value === "" ? "" : Number(field.value)])));
  };
  return h("form", { class: "going-on", onsubmit: begin, "aria-label": t("find_go_on") },
    fields.map(([, , label]) => label), h("button", { class: "primary", "data-key": "go-on" }, t("find_go_on")));
}

/** Before a search: say that the address asks one, and offer what was found before the page was left. */
export function offerKept(asked, id) {
  fill(byId("offer"),
    asked.question && h("p", {}, t("find_ready")),
    id && h("p", { "data-offer": id }, t("find_left"), " ", h("a", { href: `/find?${query({ search: id })}` }, t("find_open"))));
}
