// The strategy of a search as chips: keywords by language, exclusions, years; behind them the filters.

import { byId, fill, h, isComposing, langOf } from "./dom.js";
import { nameOf } from "./facets.js";
import { t } from "./i18n.js";

const LANGUAGES = { ko: "한국어", en: "English" };
let opened = ""; // the keyword whose buttons are shown

/** Show the strategy and the filters of a result; `change(part, said)` repeats the search with one part changed. */
export function showStrategy(result, asked, manifest, change) {
  const { strategy } = result;
  const use = (chosen, said) => change({ strategy: chosen, exclude: [], skip: asked.skip.filter((name) => !name.startsWith("SQ")) }, said);
  const edit = (part, said) => use({ ...strategy, ...part, origin: "person" }, said);
  const button = (key, words, sign, onclick, attributes) => h("button", { type: "button", class: "icon", "aria-label": words, "data-key": key, onclick, ...attributes }, sign);
  const plain = (key, onclick) => h("button", { type: "button", class: "plain", "data-key": key, onclick }, t(key));
  fill(byId("strategy"),
    strategy && [h("p", { class: "quiet", "data-origin": strategy.origin }, t(`origin_${strategy.origin}`),
      asked.strategy && plain("restore", () => use(null, t("restored"))),
      manifest?.language_model && strategy.origin !== "model" && plain("ask_model", async ({ target }) => (await import("./process.js")).askModel(asked, target, use))),
    Object.keys(LANGUAGES).map(keywords), adding()],
    h("ul", { class: "tags", "aria-label": t("limits") }, strategy && conditions(), filters()));

  function keywords(language) {
    const words = strategy[language];
    const chip = (word, at) => {
      const key = `${language}:${word}`;
      const others = words.toSpliced(at, 1);
      const move = (to) => to >= 0 && to < words.length && edit({ [language]: others.toSpliced(to, 0, word) }, t("moved", { word, place: to + 1 }));
      const keys = { ArrowLeft: () => move(at - 1), ArrowRight: () => move(at + 1), Delete: () => edit({ [language]: others }, t("removed", { word })) };
      const onkeydown = (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } };
      const toggle = () => { opened = opened === key ? "" : key; showStrategy(result, asked, manifest, change); };
      const off = (is) => ({ "aria-disabled": is && "true" });
      return h("li", { class: "tag", "data-keyword": word },
        h("button", { type: "button", class: "text", lang: langOf(word, language), title: t("keyword_keys"), "aria-expanded": String(opened === key), "data-key": `word:${key}`, onkeydown, onclick: toggle }, word),
        opened === key && [button(`move_up:${key}`, t("move_up", { word }), "←", keys.ArrowLeft, off(at === 0)), button(`move_down:${key}`, t("move_down", { word }), "→", keys.ArrowRight, off(at === words.length - 1))],
        button(`remove_word:${key}`, t("remove_word", { word }), "✕", keys.Delete));
    };
    return words.length > 0 && [h("span", { class: "quiet", lang: language, "aria-hidden": "true" }, LANGUAGES[language]), h("ol", { class: "chips", "aria-label": LANGUAGES[language] }, words.map(chip))];
  }

  function adding() {
    const onkeydown = (event) => {
      if (event.key !== "Enter" || isComposing(event)) return;
      event.preventDefault();
      const word = event.target.value.trim();
      const language = langOf(word);
      if (word && !strategy[language].includes(word)) edit({ [language]: [word, ...strategy[language]] }, t("added_word", { word })); // first: it matters to the reader
    };
    return h("input", { class: "adding", "aria-label": t("add_keyword"), placeholder: `+ ${t("add_keyword")}`, maxlength: "200", "data-key": "add", onkeydown });
  }

  function conditions() {
    const { exclude, years } = strategy;
    return [exclude.map((each) => tag(t("not"), Object.values(each).join(" · "), { exclude: exclude.filter((other) => other !== each) }, edit)),
      years && tag(t("years"), years.map((year) => year ?? "").join("–"), { years: null }, edit)];
  }

  function filters() {
    const shown = { year: asked.year.replace("..", "–"), lang: asked.lang && nameOf("lang", asked.lang), journal: asked.journal, author: asked.author, type: asked.type && nameOf("type", asked.type) };
    return [!asked.conditions && tag("", t("literal"), { conditions: true }, change),
      Object.entries(shown).map(([name, text]) => text && tag(t(name === "lang" ? "language" : name), text, { [name]: "" }, change))];
  }

  function tag(kind, text, part, drop) {
    const name = kind ? `${kind}: ${text}` : text;
    return h("li", { class: "tag", "data-condition": name }, name, button(`drop:${name}`, t("drop", { name }), "✕", () => drop(part, t("dropped", { name }))));
  }
}
