// The searches kept in this browser; they can be cleared or saved.

import { openDialog } from "./dialogs.js";
import { fill, h, langOf, save } from "./dom.js";
import { learn, moment, t } from "./i18n.js";
import { entries, keep } from "./searches_kept.js";

await learn("dialogs");

/** Show the history; `open(address, papers)` repeats a search, and compares with its papers of then. */
export function showHistory(open) {
  openDialog(t("history"), (close) => {
    const place = h("div");
    const show = () => fill(place, entries().length === 0
      ? h("p", { class: "quiet" }, t("history_none"))
      : [h("ol", {}, entries().map((each) => h("li", {},
          h("a", { href: each.address, lang: langOf(each.question), onclick: (event) => { event.preventDefault(); close(); open(each.address, each.papers); } }, each.question),
          h("p", { class: "meta" }, [moment(each.at), each.index, t(`method_${each.method}`), t("papers", { n: each.hits })].join(" · "))))),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => save("shrag-history.json", new Blob([JSON.stringify({ history: entries() }, null, 2)], { type: "application/json" })) }, t("save_file")),
          h("button", { type: "button", onclick: () => { keep([]); show(); } }, t("history_clear")))]);
    show();
    return [h("p", { class: "quiet" }, t("history_about")), place];
  });
}
