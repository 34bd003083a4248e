// The reader's searches for papers on the server: opened, saved as a file, deleted.

import { call, download } from "./api.js";
import { openDialog } from "./dialogs.js";
import { fill, h, langOf, save } from "./dom.js";
import { moment, t } from "./i18n.js";
import { describe } from "./status.js";

const ADDRESS = "/api/v1/find-papers";

/** List the searches; `open(id)` shows one. */
export function showKept(open) {
  openDialog(t("find_kept"), (close) => {
    const place = h("div", { "aria-live": "polite" }, t("searching"));
    const problems = h("div", { "aria-live": "polite" });
    const tried = (work) => async () => {
      try {
        await work();
        fill(problems);
      } catch (error) {
        fill(problems, describe(error));
      }
    };
    const list = tried(async () => {
      const { searches } = await call(`${ADDRESS}/kept`);
      fill(place, searches.length === 0 ? h("p", { class: "quiet" }, t("find_kept_none")) : h("ul", { class: "kept" }, searches.map(item)));
    });
    function item({ id, request, question = request?.question ?? id, index, sources, updated, known, relevant, complete, running }) {
      const button = (key, label, onclick) => h("button", { type: "button", class: "plain", "data-key": `${key}:${id}`, "aria-label": t(`${label}_of`, { question: question.slice(0, 100) }), onclick }, t(label));
      const state = running ? t("find_kept_running") : complete ? "" : t("find_kept_incomplete");
      return h("li", { "data-kept": id },
        h("a", { href: `/find?search=${id}`, lang: langOf(question), onclick: (event) => { event.preventDefault(); close(); open(id); } }, question),
        h("p", { class: "meta" }, [updated && moment(updated), sources?.join(", ") ?? index, relevant !== undefined && t("find_counts", { n: known, relevant }), state].filter(Boolean).join(" · ")),
        h("p", { class: "row" },
          button("save", "find_save", tried(async () => save(`shrag-papers-${id.slice(0, 8)}.json`, await download(`${ADDRESS}/${id}/state`)))),
          button("delete", "find_delete", tried(async () => { await call(`${ADDRESS}/${id}`, { method: "DELETE" }); await list(); }))));
    }
    list();
    return [h("p", { class: "quiet" }, t("find_kept_about")), place, problems];
  });
}
