// The frame of a page: the choice of the index, the question field, the visible columns, the reader's preferences.

import { askForKey, openAccess, wantsKey } from "./access.js";
import { call, query } from "./api.js";
import { byId, fill, h, isComposing, langOf, toggles } from "./dom.js";
import { language, learn, t } from "./i18n.js";
import { showMarks } from "./kept.js";
import { SOURCES, isSources, sourcesIn } from "./papers.js";
import { say, sayProblem } from "./status.js";

const THEMES = { auto: "◐", light: "☀", dark: "☾" };

/** Open the parts of the header; `send` receives whether Ctrl was pressed, `link` leads to another page with the question. */
export function openFrame(send, link) {
  const field = byId("question");
  field.addEventListener("keydown", (event) => { // Shift+Enter starts a new line
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send(event.ctrlKey || event.metaKey);
  });
  field.addEventListener("input", growQuestion);
  toggles("options-toggle", (on) => { byId("options").hidden = !on; });
  byId(link).addEventListener("click", () => {
    const q = field.value.trim();
    byId(link).search = query({ q, index: q && byId("index").value });
  });
  window.addEventListener("offline", () => say(t("problem_offline")));
  viewButtons().forEach((button) => button.addEventListener("click", () => { view(button.dataset.show); byId(button.dataset.show).focus(); }));
  openTools();
}

/** Open the tools of every page: marked papers, the session, the reader's preferences. */
export function openTools() {
  opens("open-marked", ({ showMarked }) => showMarked());
  openPreferences();
  showMarks();
  openAccess();
}

/** Let a button open a dialog, whose module is loaded then. */
export function opens(button, open) {
  byId(button).addEventListener("click", () => {
    document.querySelector('#menu[aria-expanded="true"]')?.click();
    import("./dialogs.js").then(open, () => sayProblem({ code: "offline" }));
  });
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

const viewButtons = () => document.querySelectorAll("[data-show]");

/** Show a column by its id on a screen too narrow for several columns. */
export function view(name) {
  document.body.dataset.view = name;
  viewButtons().forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === name)));
}

/** Enable the buttons that need scripts: language, colours, and others on the page. Cookies keep the choices for the server. */
function openPreferences() {
  const root = document.documentElement;
  const keep = (name, value) => { document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Strict`; };
  const button = byId("theme");
  const show = () => {
    const { theme } = root.dataset;
    button.textContent = THEMES[theme];
    button.title = t("theme_is", { theme: t(`theme_${theme}`) });
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    root.dataset.theme = names[(names.indexOf(root.dataset.theme) + 1) % names.length];
    keep("shrag-theme", root.dataset.theme);
    show();
  });
  show();
  toggles("menu");
  document.querySelectorAll("[data-language]").forEach((each) => each.addEventListener("click", () => {
    if (each.dataset.language === language) return;
    keep("shrag-language", each.dataset.language);
    const address = new URL(location.href);
    address.searchParams.delete("hl"); // it would override the choice
    history.replaceState(history.state, "", address);
    location.reload();
  }));
  document.querySelectorAll("button[disabled]").forEach((each) => { each.disabled = false; });
}

export let indexes = [];
let sources = []; // offered in addition to the indexes

/** Fill the choice of an index or of sources; `again` is called when the reader has entered a key for them. */
export async function listPlaces(chosen, again) {
  const select = byId("index");
  try {
    [{ indexes }, { sources }] = await Promise.all([call("/api/v1/indexes"), call("/api/v1/sources")]);
    fill(select, options());
    select.disabled = select.length < 2;
    if (chosen) choose(select, chosen);
    return true;
  } catch (error) {
    [indexes, sources] = [[], []];
    if (wantsKey(error)) askForKey(again);
    else sayProblem(error);
    return false;
  }
}

/** Create the options: indexes, then sources; a source that takes questions outside is marked. */
function options() {
  const ofIndexes = indexes.map(({ name }) => h("option", { value: name }, name));
  if (!sources.length) return ofIndexes;
  const leaving = (each) => (each.private === false ? ` (${t("leaves")})` : "");
  const ofSources = sources.map((each) => h("option", { value: `${SOURCES}${each.name}` }, each.name + leaving(each)));
  const together = { name: sources.map(({ name }) => name).join(","), private: sources.every((each) => each.private !== false) };
  const all = sources.length > 1 && h("option", { value: `${SOURCES}${together.name}` }, t("all_sources") + leaving(together));
  return [ofIndexes.length > 0 && h("optgroup", { label: t("indexes") }, ofIndexes), h("optgroup", { label: t("sources") }, ofSources, all)];
}

/** Select an option; add one for an unlisted name in the address. */
export function choose(select, place) {
  select.value = place;
  if (select.value === place || !isSources(place)) return;
  select.append(h("option", { value: place }, sourcesIn(place).join(", ")));
  select.value = place;
}

/** Show remarks of the page, and that questions to the chosen sources leave the institution. */
export function sayQuiet(...remarks) {
  const asked = sourcesIn(byId("index").value);
  const leaving = sources.filter((each) => asked.includes(each.name) && each.private === false).map(({ name }) => name);
  byId("quiet").textContent = [...remarks, leaving.length > 0 && t("leaves_about", { names: leaving.join(", ") })].filter(Boolean).join(" ");
}

let latest;

/** Show the size of an index, and questions made from its papers, or the chosen sources; `ask(question)` searches. */
export async function showExamples(manifest, ask) {
  const place = (latest = Symbol("place")); // late examples may belong to another choice
  const about = byId("start-about");
  const names = sourcesIn(byId("index").value).join(", ");
  const { name, papers, passages } = manifest ?? {};
  about.textContent = names ? t("start_sources", { names }) : manifest ? t("start_about", { name, papers, passages }) : t("start_no_index");
  if (names || !manifest) return fill(byId("examples"));
  const { questions } = await call(`/api/v1/examples?${query({ index: name, lang: language })}`).catch(() => ({ questions: [] }));
  if (place !== latest) return undefined;
  if (questions.length) about.append(" ", t("start_examples"));
  return fill(byId("examples"), questions.map((text) => h("li", {}, h("button", { type: "button", lang: langOf(text), onclick: () => ask(text) }, text))));
}

/** Offer the language models of a server that has several; "" is the default, which is the first. */
export async function offerModels(chosen) {
  const several = indexes.find((each) => each.other_models?.length);
  if (!several) return;
  await learn("answer");
  if (!byId("model")) byId("hops").parentElement.after(h("label", {}, t("model"), " ", h("select", { id: "model", name: "model" })));
  fill(byId("model"), h("option", { value: "" }, several.language_model), several.other_models.map((name) => h("option", {}, name)));
  byId("model").value = chosen;
}
