// The answer's column: opened by Ask, closed by a new search, or with the answer of an earlier search.

import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";

const column = () => byId("answer-body");
const askButton = (label, ask) => h("p", {}, h("button", { type: "button", onclick: ask }, t(label)));

/** Close the passage next to a sentence, if one is open. */
export function leavePassage() {
  fill(byId("passage-beside"));
  document.body.classList.remove("showing-passage");
}

/** Open the column for an answer. */
export const openAnswer = () => document.body.classList.add("answering");

/** Close the column: a new search has no answer. */
export function closeAnswer() {
  delete column().dataset.answers;
  fill(column());
  document.body.classList.remove("answering");
}

/** Report that the search has changed; the old answer stays until a new one is requested. */
export function answerIsOfBefore(ask) {
  if (!column().dataset.answers) closeAnswer();
  else if (!column().querySelector("[data-before]"))
    column().prepend(h("div", { class: "box", "data-before": true }, h("p", {}, t("answer_of_before")), askButton("ask_again", ask)));
}
