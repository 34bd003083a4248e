// The choice of the language model, on a server that offers several.

import { byId, fill, h } from "./dom.js";
import { learn, t } from "./i18n.js";

await learn("answer");

/** Offer the models of the server, and select `model`; "" is the default, which is the first. */
export function offerModels({ language_model: first, other_models: others }, model) {
  if (!byId("model")) byId("hops").parentElement.after(h("label", {}, t("model"), " ", h("select", { id: "model", name: "model" })));
  fill(byId("model"), h("option", { value: "" }, first), others.map((name) => h("option", {}, name)));
  byId("model").value = model;
}
