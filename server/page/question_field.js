// The field that a question is written in, with the options below it.

import { query } from "./api.js";
import { byId, isComposing } from "./dom.js";

/** Let Enter send, unless an input method is composing; Shift+Enter begins a line. `send` is told of Ctrl. */
export function openQuestionField(send) {
  const field = byId("question");
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send(event.ctrlKey || event.metaKey);
  });
  field.addEventListener("input", growQuestion);
  const toggle = byId("options-toggle");
  toggle.addEventListener("click", () => {
    byId("options").hidden = !byId("options").hidden;
    toggle.setAttribute("aria-expanded", String(!byId("options").hidden));
  });
}

/** Make the field as high as its text, where the browser does not. */
export function growQuestion() {
  if (CSS.supports("field-sizing", "content")) return;
  const field = byId("question");
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

/** Let a keyboard on the screen make room for what is found. */
export function leaveQuestion() {
  if (matchMedia("(pointer: coarse)").matches) byId("question").blur();
}

/** Let a link to another page take the question along. */
export function takeQuestionAlong(link) {
  link.addEventListener("click", () => { link.search = query({ q: byId("question").value.trim(), index: byId("question").value.trim() && byId("index").value }); });
}
