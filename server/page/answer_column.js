// The answer's column while there is no answer in it, or one of the search before.

import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";

const column = () => byId("answer-body");
const askButton = (label, ask) => h("p", {}, h("button", { type: "button", onclick: ask }, t(label)));

/** Close the passage beside a sentence, if one is open. */
export function leavePassage() {
  fill(byId("passage-beside"));
  document.body.classList.remove("showing-passage");
}

/** Show the column before anything is asked of it. */
export function offerAnswer(ask) {
  delete column().dataset.answers;
  fill(column(), h("p", { class: "quiet" }, t("answer_offer")), askButton("ask", ask));
}

/** Say that the search was changed since; the answer stays until it is asked for again. */
export function answerIsOfBefore(ask) {
  if (!column().dataset.answers) offerAnswer(ask);
  else if (!column().querySelector("[data-before]"))
    column().prepend(h("div", { class: "box", "data-before": true }, h("p", {}, t("answer_of_before")), askButton("ask_again", ask)));
}
