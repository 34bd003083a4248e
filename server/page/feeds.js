// Atom feeds: one for a search, and the list of the reader's feeds.

import { call } from "./api.js";
import { body } from "./asked.js";
import { fill, h, langOf } from "./dom.js";
import { t } from "./i18n.js";
import { describe } from "./status.js";

const ADDRESS = "/api/v1/feeds";

/** Create the part of a dialog that creates a feed of a search, shows its address once, and deletes feeds. */
export function feedsPart(asked) {
  const made = h("div", { "aria-live": "polite" });
  const list = h("ul", { class: "kept" });
  const tried = (work) => async () => {
    try {
      await work();
      await show();
    } catch (error) {
      fill(made, describe(error));
    }
  };
  const create = tried(async () => {
    const { address } = await call(ADDRESS, { body: body(asked) });
    const shown = h("input", { readonly: true, value: address, size: "40", onfocus: () => shown.select() });
    fill(made, h("label", {}, t("feed_address"), " ", shown));
  });
  const remove = (id) => tried(async () => {
    await call(`${ADDRESS}/${id}`, { method: "DELETE" });
    fill(made);
  });
  const item = ({ id, question, index, papers }) => h("li", { "data-feed": id },
    h("span", { lang: langOf(question) }, question),
    h("span", { class: "meta" }, ` ${index} · ${t("feed_papers", { n: papers })} `),
    h("button", { type: "button", class: "plain", "data-key": `delete:${id}`, "aria-label": t("feed_delete_of", { question: question.slice(0, 100) }), onclick: remove(id) }, t("feed_delete")));
  async function show() {
    const { feeds } = await call(ADDRESS);
    fill(list, feeds.map(item));
  }
  show().catch(() => {}); // without the list a feed can still be created
  return h("div", { class: "feeds" },
    h("p", {}, t("feed_about")),
    h("div", { class: "row" }, h("button", { type: "button", "data-feed-create": true, onclick: create }, t("feed_create"))),
    made,
    list);
}
