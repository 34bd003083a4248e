// The choice of indexes and sources.

import { call } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { SOURCES, isSources, sourcesIn } from "./places.js";

/** Fill the choice of an index or of sources, and return both lists. */
export async function listPlaces(chosen) {
  const [{ indexes }, { sources }] = await Promise.all([call("/api/v1/indexes"), call("/api/v1/sources")]);
  const select = byId("index");
  fill(select, options(indexes, sources));
  select.disabled = select.length < 2;
  if (chosen) choose(select, chosen);
  return [indexes, sources];
}

/** Create the options: indexes, then sources; a source that takes questions outside is marked. */
function options(indexes, sources) {
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
