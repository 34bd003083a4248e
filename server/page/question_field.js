// The field for the question, with the options below it.

import { query } from "./api.js";
import { byId, isComposing, toggles } from "./dom.js";

/** Send on Enter, unless an input method is composing; Shift+Enter starts a new line. `send` receives whether Ctrl was pressed. */
export function openQuestionField(send) {
  const field = byId("question");
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send(event.ctrlKey || event.metaKey);
  });
  field.addEventListener("input", growQuestion);
  toggles("options-toggle", (on) => { byId("options").hidden = !on; });
}

/** Fit the field's height to its text, if the browser does not. */
export function growQuestion() {
  if (CSS.supports("field-sizing", "content")) return;
  const field = byId("question");
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

/** Close the on-screen keyboard to make room for the results. */
export function leaveQuestion() {
  if (matchMedia("(pointer: coarse)").matches) byId("question").blur();
}

/** Pass the question to another page by its link. */
export function takeQuestionAlong(link) {
  link.addEventListener("click", () => { link.search = query({ q: byId("question").value.trim(), index: byId("question").value.trim() && byId("index").value }); });
}
