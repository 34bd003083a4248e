// One line that says what happens, read out by screen readers, and errors with what to do next.

import { byId, fill, h } from "./dom.js";
import { has, language, learn, t } from "./i18n.js";

/** Say what happens now. */
export function say(text) {
  byId("status").textContent = text;
}

// Problems whose detail tells more than their code: which part of a call, which name.
const DETAILED = new Set([
  "bad-question", "bad-filter", "bad-expression", "bad-request", "invalid-call", "not-found", "wrong-method", "wrong-media-type",
  "unknown-index", "unknown-paper", "unknown-passage", "unknown-source", "unknown-way",
]);

/** Return the server's words of a problem, on a Korean page in Korean where there are such words. */
function detailOf(problem) {
  const spoken = problem.detail && problem.code !== "key-needed";
  const told = language === "ko" && has(`problem_${problem.code}`) && !DETAILED.has(problem.code);
  if (!spoken || told) return "";
  const place = h("p", { class: "quiet", lang: "en" }, problem.detail);
  const translate = async () => {
    const words = await (await import("./said.js")).inKorean(problem.detail);
    if (words) place.replaceWith(h("p", { class: "quiet", lang: "ko" }, words));
  };
  if (language === "ko") translate().catch(() => {});
  return place;
}

/** Tell an error in the page's language; rare ones have words of their own, which are told once they are loaded. */
function tell(problem, show) {
  const key = `problem_${problem.code}`;
  const words = () => (has(key) ? t(key, { seconds: Math.ceil(problem.retry_after_s ?? 5) }) : t("problem"));
  show(words());
  if (!has(key)) learn("problems").then(() => { if (has(key)) show(words()); }, () => {});
}

/** Describe an error: what happened, the server's words, what to do next. */
export function describe(problem, again) {
  const said = h("p", { class: "error" });
  const detail = h("div");
  tell(problem, (text) => { said.textContent = text; fill(detail, detailOf(problem)); });
  const button = again && h("button", { type: "button", onclick: again }, t("try_again"));
  return h("div", { class: "box", role: "group", "data-problem": problem.code ?? "unexpected" }, said, detail, button && h("p", {}, button));
}

/** Say what a screen reader should hear of an error; not where something else was said in the meantime. */
export function sayProblem(problem) {
  let last;
  tell(problem, (text) => {
    if (last !== undefined && byId("status").textContent !== last) return;
    last = text;
    say(text);
  });
}
