// Before the first question: the indexes and sources, and example questions from the index.

import { call, query } from "./api.js";
import { byId, fill, h, langOf } from "./dom.js";
import { language, number, t } from "./i18n.js";

let latest;

/** Show the size of an index, and its examples, or the chosen sources; `ask(question)` searches. */
export async function showStart(manifest, ask, sources = []) {
  const place = (latest = Symbol("place")); // late examples may belong to another choice
  const about = byId("start-about");
  if (sources.length) {
    about.textContent = t("start_sources", { names: sources.join(", ") });
    return fill(byId("examples"));
  }
  about.textContent = manifest ? t("start_about", { name: manifest.name, papers: number(manifest.papers), passages: number(manifest.passages) }) : t("start_no_index");
  if (!manifest) return undefined;
  try {
    const { questions } = await call(`/api/v1/examples?${query({ index: manifest.name, lang: language })}`);
    if (place !== latest) return undefined;
    if (questions.length) about.append(" ", t("start_examples"));
    return fill(byId("examples"), questions.map((text) =>
      h("li", {}, h("button", { type: "button", lang: langOf(text), onclick: () => ask(text) }, text))));
  } catch {
    return place === latest ? fill(byId("examples")) : undefined;
  }
}
