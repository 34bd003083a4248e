// A strategy of the language model for a search; the address then contains it.

import { call } from "./api.js";
import { body } from "./asked.js";
import { t } from "./i18n.js";
import { say, sayProblem } from "./status.js";

/** Ask the model, and search with its strategy: `use(strategy, said)`, unless another search was faster than it. */
export async function askModel(asked, button, use) {
  button.setAttribute("aria-disabled", "true");
  say(t("asking_model"));
  try {
    const { strategy } = await call("/api/v1/keywords", { body: { ...body({ ...asked, strategy: null }), strategist: "model" } });
    if (!button.isConnected) return;
    if (strategy.origin === "model") use(strategy, t("origin_model"));
    else say(t("ask_model_failed"));
  } catch (error) {
    sayProblem(error);
  }
}
