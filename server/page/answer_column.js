// The answer's column without an answer, or with one of an earlier search.

import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";

const column = () => byId("answer-body");
const askButton = (label, ask) => h("p", {}, h("button", { type: "button", onclick: ask }, t(label)));

/** Close the passage next to a sentence, if one is open. */
export function leavePassage() {
  fill(byId("passage-beside"));
  document.body.classList.remove("showing-passage");
}

/** Show the column before the first question. */
export function offerAnswer(ask) {
  delete column().dataset.answers;
  fill(column(), h("p", { class: "quiet" }, t("answer_offer")), askButton("ask", ask));
}

/** Report that the search has changed; the old answer stays until a new one is requested. */
export function answerIsOfBefore(ask) {
  if (!column().dataset.answers) offerAnswer(ask);
  else if (!column().querySelector("[data-before]"))
    column().prepend(h("div", { class: "box", "data-before": true }, h("p", {}, t("answer_of_before")), askButton("ask_again", ask)));
}
