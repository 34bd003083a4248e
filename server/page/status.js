// One line that says what happens, read out by screen readers, and errors with what to do next.

import { byId, h } from "./dom.js";
import { has, t } from "./i18n.js";

/** Say what happens now. */
export function say(text) {
  byId("status").textContent = text;
}

/** Describe an error: what happened in the page's language, the server's words, what to do next. */
export function describe(problem, again) {
  const key = `problem_${problem.code}`;
  const known = has(key) ? t(key, { seconds: Math.ceil(problem.retry_after_s ?? 5) }) : t("problem");
  const detail = problem.detail && problem.code !== "key-needed" ? h("p", { class: "quiet", lang: "en" }, problem.detail) : "";
  const button = again && h("button", { type: "button", onclick: again }, t("try_again"));
  return h("div", { class: "box", role: "group", "data-problem": problem.code ?? "unexpected" },
    h("p", { class: "error" }, known), detail, button && h("p", {}, button));
}

/** Say what a screen reader should hear of an error. */
export function sayProblem(problem) {
  const key = `problem_${problem.code}`;
  say(has(key) ? t(key, { seconds: Math.ceil(problem.retry_after_s ?? 5) }) : t("problem"));
}
