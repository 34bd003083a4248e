// Keywords as chips: reordered by dragging, by buttons or Alt with an arrow, removed, added.

import { byId, fill, h, isComposing, langOf } from "./dom.js";
import { number, t } from "./i18n.js";

/** Show the keywords of a result; `change(keywords)` is called with the new texts, or null for the index's choice. */
export function showKeywords(result, asked, change) {
  const place = byId("keywords");
  const words = result.keywords ?? [];
  if (asked.method === "boolean" || asked.method === "or" || asked.method === "dense") {
    fill(place, h("p", { class: "quiet" }, t("no_keywords")));
    return;
  }
  const texts = words.map((word) => word.text);
  const most = Math.max(...words.map((word) => word.weight), 0.001);

  const move = (from, to) => {
    if (from === to || to < 0 || to >= texts.length) return;
    const moved = texts.toSpliced(from, 1).toSpliced(to, 0, texts[from]);
    change(moved, t("moved", { word: texts[from], place: to + 1 }));
  };
  const remove = (index) => change(texts.toSpliced(index, 1), t("removed", { word: texts[index] }));

  const list = h("ol", { class: "chips" }, words.map((word, index) => chip(word, index)));
  function chip(word, index) {
    const key = (name) => ({ "data-key": `${name}:${word.text}` });
    const item = h("li", { "data-keyword": word.text, "--share": (100 * word.weight) / most, onkeydown: keys },
      h("span", { class: "handle", title: t("drag"), "aria-hidden": "true", onpointerdown: drag }, "⠿"),
      h("span", { class: "place meta" }, number(index + 1)),
      h("span", { class: "text", lang: langOf(word.text, word.language), title: t("weight", { weight: number(word.weight, 2) }) }, word.text),
      h("button", { type: "button", class: "icon", "aria-label": t("move_up", { word: word.text }), "aria-disabled": index === 0 && "true", onclick: () => move(index, index - 1), ...key("up") }, "↑"),
      h("button", { type: "button", class: "icon", "aria-label": t("move_down", { word: word.text }), "aria-disabled": index === words.length - 1 && "true", onclick: () => move(index, index + 1), ...key("down") }, "↓"),
      h("button", { type: "button", class: "icon", "aria-label": t("remove_word", { word: word.text }), onclick: () => remove(index), ...key("remove") }, "✕"));
    function keys(event) {
      if (event.altKey && event.key === "ArrowUp") move(index, index - 1);
      else if (event.altKey && event.key === "ArrowDown") move(index, index + 1);
      else if (event.key === "Delete") remove(index);
      else return;
      event.preventDefault();
    }
    function drag(event) {
      if (event.button) return;
      event.preventDefault();
      const others = [...list.children];
      let target = index;
      item.classList.add("dragged");
      const follow = (moved) => {
        const below = others.findIndex((other) => moved.clientY < other.getBoundingClientRect().top + other.offsetHeight / 2);
        target = below < 0 ? others.length : below;
        others.forEach((other, place) => {
          other.classList.toggle("target", place === target);
          other.classList.toggle("target-last", target === others.length && place === others.length - 1);
        });
      };
      const dragging = new AbortController();
      const listen = (kind, listener) => window.addEventListener(kind, listener, { signal: dragging.signal, capture: true });
      const end = () => {
        dragging.abort();
        others.forEach((other) => other.classList.remove("dragged", "target", "target-last"));
      };
      listen("pointermove", follow);
      listen("pointercancel", end);
      listen("keydown", (pressed) => {
        if (pressed.key !== "Escape") return;
        pressed.stopPropagation(); // it closes nothing else
        end();
      });
      listen("pointerup", () => {
        end();
        // Another search may have brought other keywords in the meantime.
        if (list.isConnected) move(index, target > index ? target - 1 : target);
      });
    }
    return item;
  }

  const input = h("input", { "aria-label": t("add_keyword"), placeholder: t("add_keyword"), maxlength: "200", "data-key": "add", onkeydown: entered });
  function add() {
    const text = input.value.trim();
    const most = result.applied?.keyword_count ?? Infinity;
    // The number of keywords with a query is limited: in a full list the new one replaces the last.
    if (text && !texts.includes(text)) change([...texts.slice(0, most - 1), text], t("added_word", { word: text }));
  }
  function entered(event) {
    if (event.key !== "Enter" || isComposing(event)) return;
    event.preventDefault();
    add();
  }
  const source = asked.keywords ? t("keywords_given") : t("keywords_statistics");
  const restore = asked.keywords && h("button", { type: "button", class: "plain", "data-key": "restore", onclick: () => change(null, t("restored")) }, t("restore"));
  fill(place,
    h("h3", {}, h("span", {}, t("keywords")), restore || h("span", { class: "quiet" }, source)),
    words.length ? list : h("p", { class: "quiet" }, t("keywords_none")),
    h("div", { class: "add" }, input, h("button", { type: "button", onclick: add, "aria-label": t("add_keyword") }, "+")));
}
