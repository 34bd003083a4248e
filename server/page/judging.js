// Judgements of readers: a paper helps, an answer helps, a sentence is cited wrongly. The server keeps them for evaluation.

import { call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { store, stored } from "./kept.js";
import { partOf, placeOf } from "./papers.js";
import { say, sayProblem } from "./status.js";

const KEY = "shrag-reader";
const BYTES = 16;

/** Whether the server keeps judgements. */
export const judges = document.body.dataset.judges === "true";

/** Return the random token of this browser session, by which a later judgement replaces an earlier one. */
function reader() {
  const known = stored(sessionStorage, KEY);
  if (known) return known;
  const made = [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  store(sessionStorage, KEY, made);
  return made;
}

/**
 * Create buttons for verdicts, given as pairs of a verdict and its label; the last one chosen counts.
 * `judged()` returns the question, the place and the judged thing.
 */
export function verdicts(pairs, name, judged) {
  const buttons = pairs.map(([verdict, label]) => h("button", { type: "button", class: "plain", "aria-pressed": "false", "data-verdict": verdict, onclick: (event) => send(event.currentTarget, verdict) }, label));
  async function send(button, verdict) {
    const { place, ...said } = judged();
    try {
      await call("/api/v1/judgements", { body: { ...said, ...partOf(place), verdict, reader: reader() } });
      buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      say(t("judged"));
    } catch (error) {
      sayProblem(error);
    }
  }
  return h("span", { class: "judging", role: "group", "aria-label": name }, buttons);
}

/** Add the buttons to the listed papers of a result. */
export function judgeHits(list, result, asked) {
  const place = placeOf(result) ?? asked.index;
  for (const hit of result.hits) {
    const judged = () => ({ question: asked.meant || asked.question, place, paper: hit.doc_id });
    const buttons = verdicts([["helpful", t("helpful")], ["not helpful", t("not_helpful")]], t("judge_paper", { title: hit.title || hit.doc_id }), judged);
    list.querySelector(`:scope > [data-doc="${CSS.escape(hit.doc_id)}"] .actions`)?.append(buttons);
  }
}
