// What follows an answer: a further question about the same subject, and a second answer beside it.

import { byId, disclosure, h } from "./dom.js";
import { t } from "./i18n.js";

const MOST_EARLIER = 20; // questions
const PARTS = ["method", "way", "model"];

const isOffered = (name) => byId(name) !== null; // a server with one model offers none

/** Create the form for a further question; `ask` is called with the parts of the next search. */
export function furtherQuestion(asked, ask) {
  const field = h("input", { type: "text", maxlength: 20_000, "aria-label": t("further_question"), placeholder: t("further_question") });
  const submit = (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (question) ask({ question, earlier: [...asked.earlier, asked.question].slice(-MOST_EARLIER), strategy: null, skip: [], beside: null });
    else field.focus();
  };
  return h("form", { class: "add", "data-further": true, onsubmit: submit }, field, h("button", {}, t("ask")));
}

/** Create the choice of a second answer by another method, way or model; `compare` is called with all. */
export function otherAnswer(asked, compare) {
  const [button, place] = disclosure(`▸ ${t("compare_answers")}`, () => {
    const choices = PARTS.filter(isOffered).map((name) => [name, choiceOf(name, asked[name])]);
    const submit = (event) => { event.preventDefault(); compare(Object.fromEntries(choices.map(([name, choice]) => [name, choice.value]))); };
    return h("form", { class: "compare", "data-compare": true, onsubmit: submit },
      choices.map(([name, choice]) => h("label", {}, t(name), " ", choice)), h("button", {}, t("compare")));
  });
  return [h("div", { class: "actions" }, button), place];
}

/** Copy a choice of the options, without the expert language. */
function choiceOf(name, value) {
  const choice = h("select", {}, [...byId(name).options].filter((option) => option.value !== "boolean").map((option) => option.cloneNode(true)));
  choice.value = value;
  return choice;
}

/** Name an answer by its method, its way and, if there are several, its model, as the options do. */
export const nameOf = (asked) => PARTS.filter(isOffered).map((name) => [...byId(name).options].find((option) => option.value === asked[name])?.textContent).filter(Boolean).join(" · ");
