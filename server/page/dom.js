// Elements are created here; text of documents is inserted as text, never as markup.

import { number } from "./i18n.js";

export const byId = (id) => document.getElementById(id);

/** Create an element: attributes by name, `onclick` and similar as listeners, `--x` as style properties. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

const present = (children) => children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== "");

/** Replace an element's children; the focus moves to the same `data-key`, or to the same position. */
export function fill(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const kind = key && `[data-key^="${key.split(":")[0]}"]`;
  const place = kind && [...element.querySelectorAll(kind)].indexOf(document.activeElement);
  element.replaceChildren(...present(children));
  if (!key) return;
  const alike = [...element.querySelectorAll(kind)];
  (alike.find((each) => each.dataset.key === key) ?? alike[Math.min(place, alike.length - 1)] ?? element.querySelector("[data-key]"))?.focus();
}

/** Split a text at spans of code points, [start, end), and mark the spans. */
export function marked(text, spans) {
  if (!spans?.length) return [text];
  const points = Array.from(text);
  const pieces = [];
  let place = 0;
  for (const [start, end] of spans) {
    pieces.push(points.slice(place, start).join(""), h("mark", {}, points.slice(start, end).join("")));
    place = end;
  }
  return [...pieces, points.slice(place).join("")];
}

/** The language of a text for `lang`: as its record states, else by its script. */
export function langOf(text, given) {
  if (given === "ko" || given === "en") return given;
  if (given === "other") return "und";
  const hangul = (text?.match(/[\uac00-\ud7a3]/g) ?? []).length;
  const latin = (text?.match(/[A-Za-z]/g) ?? []).length;
  return hangul > 0.2 * (hangul + latin) ? "ko" : "en";
}

/** Check whether a key belongs to an input method that is composing. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** Create a button that shows and hides the content, which `content` creates on first use. */
export function disclosure(label, content, attributes = {}) {
  const place = h("div", { hidden: true });
  const button = h("button", { type: "button", class: "plain", "aria-expanded": "false", ...attributes, onclick: async () => {
    place.hidden = !place.hidden;
    button.setAttribute("aria-expanded", String(!place.hidden));
    if (!place.hidden && !place.hasChildNodes()) place.replaceChildren(await content());
  } }, label);
  return [button, place];
}

/**
 * Update a part of the page to match a fresh one where they differ: focus and selection stay. An element with another
 * `data-key` or `data-same` is replaced, one with the same `data-same` stays as it is.
 */
export function morph(present, fresh) {
  const { key, same } = fresh.dataset ?? {};
  if (present.nodeName !== fresh.nodeName || present.dataset?.key !== key || present.dataset?.same !== same) return present.replaceWith(fresh);
  if (same !== undefined) return undefined;
  if (!present.attributes) {
    if (present.data !== fresh.data) present.data = fresh.data;
    return undefined;
  }
  for (const { name } of [...present.attributes]) if (!fresh.hasAttribute(name)) present.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (present.getAttribute(name) !== value) present.setAttribute(name, value);
  const [before, now] = [[...present.childNodes], [...fresh.childNodes]];
  before.forEach((child, place) => (place < now.length ? morph(child, now[place]) : child.remove()));
  return present.append(...now.slice(before.length));
}

/** Open and close the part of the page that a button controls; `shown` is called with the new state. */
export function toggles(id, shown) {
  const button = byId(id);
  button?.addEventListener("click", () => {
    const on = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(on));
    shown?.(on);
  });
}

/** Load a stylesheet, with precedence below the page's own; without it the page stays usable. */
export const style = (name) => new Promise((done) => {
  document.head.prepend(h("link", { rel: "stylesheet", href: new URL(name, import.meta.url).href, onload: done, onerror: done }));
});

/** Download a file. */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Select a text or the content of a field and copy it; return whether the browser allows that. Unlike the newer interface this works without https. */
export function copyOf(element) {
  if (element.select) element.select();
  else getSelection().selectAllChildren(element);
  return document.execCommand("copy");
}

/** Show [name, value] pairs as bars; the longest is the greatest value, or `most`. */
export function bars(rows, digits = 4, most = Math.max(...rows.map(([, value]) => Math.abs(value)), 0.0001)) {
  return h("div", { class: "parts" }, rows.map(([name, value]) => [
    h("span", { lang: typeof name === "string" ? null : langOf(name.join("")) }, name),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: value < 0 ? "fill less" : "fill", "--share": (100 * Math.abs(value)) / most })),
    h("span", { class: "number" }, number(value, digits)),
  ]));
}

/** Close the passage next to a sentence, if one is open. */
export function leavePassage() {
  fill(byId("passage-beside"));
  document.body.classList.remove("showing-passage");
}
