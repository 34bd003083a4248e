// The indexes that a reader may choose from.

import { call } from "./api.js";
import { byId, fill, h } from "./dom.js";

/** Fill the choice of an index, and return the indexes. */
export async function listIndexes(chosen) {
  const { indexes } = await call("/api/v1/indexes");
  const select = byId("index");
  fill(select, indexes.map(({ name }) => h("option", { value: name }, name)));
  select.disabled = indexes.length < 2;
  if (chosen) select.value = chosen;
  return indexes;
}
