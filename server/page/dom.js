// Elements are made here; what documents say reaches them as text, never as markup.

export const byId = (id) => document.getElementById(id);

/** Make an element: attributes by name, `onclick` and the like as listeners, `--x` as properties of its style. */
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

/** Replace what an element holds; the focus returns to what has the same `data-key`, or stood in its place. */
export function fill(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const kind = key && `[data-key^="${key.split(":")[0]}"]`;
  const place = kind && [...element.querySelectorAll(kind)].indexOf(document.activeElement);
  element.replaceChildren(...present(children));
  if (!key) return;
  const alike = [...element.querySelectorAll(kind)];
  (alike.find((each) => each.dataset.key === key) ?? alike[Math.min(place, alike.length - 1)] ?? element.querySelector("[data-key]"))?.focus();
}

/** Cut a text at spans of code points, [start, end); what lies in them is marked. */
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

/** The language of a text for `lang`: as a record says, else by its script. */
export function langOf(text, given) {
  if (given === "ko" || given === "en") return given;
  if (given === "other") return "und";
  const hangul = (text?.match(/[\uac00-\ud7a3]/g) ?? []).length;
  const latin = (text?.match(/[A-Za-z]/g) ?? []).length;
  return hangul > 0.2 * (hangul + latin) ? "ko" : "en";
}

/** Tell whether a key belongs to an input method that is composing. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** Make a button that shows and hides what `content` makes the first time. */
export function disclosure(label, content, attributes = {}) {
  const place = h("div", { hidden: true });
  const button = h("button", { type: "button", class: "plain", "aria-expanded": "false", ...attributes, onclick: open }, label);
  async function open() {
    const shown = place.hidden;
    place.hidden = !shown;
    button.setAttribute("aria-expanded", String(shown));
    if (shown && !place.hasChildNodes()) place.replaceChildren(await content());
  }
  return [button, place];
}

/** Give the reader a file. */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
