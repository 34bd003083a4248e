// The list of the marked papers, from all searches of this session.

import { openDialog } from "./dialogs.js";
import { fill, h, langOf } from "./dom.js";
import { exportPapers, formatChoice } from "./exports.js";
import { learn, t } from "./i18n.js";
import { clearMarks, mark, markedPapers } from "./marks.js";
import { hitAddress, linked } from "./places.js";
import { describe } from "./status.js";

await learn("dialogs");

/** Show the marked papers, with their export. */
export function showMarked() {
  openDialog(t("marked_list"), () => {
    const place = h("div");
    const problems = h("div", { "aria-live": "polite" });
    const show = () => {
      const papers = markedPapers();
      const indexes = [...new Set(papers.map((paper) => paper.index))];
      const exportAll = async () => {
        try {
          for (const index of indexes) await exportPapers(papers.filter((paper) => paper.index === index).map((paper) => paper.id), index);
          problems.replaceChildren();
        } catch (error) {
          problems.replaceChildren(describe(error));
        }
      };
      fill(place, papers.length === 0 ? h("p", { class: "quiet" }, t("marked_none")) : [
        h("ul", {}, papers.map(({ index, id, title, url }) => h("li", {},
          linked(hitAddress({ doc_id: id, url }, index), { lang: langOf(title) }, title || id), " ",
          h("button", { type: "button", class: "plain", "aria-label": t("unmark", { title }), onclick: () => { mark(index, id, title, false); document.querySelectorAll(`[data-mark="${CSS.escape(id)}"]`).forEach((box) => { box.checked = false; }); show(); } }, t("remove"))))),
        h("div", { class: "row" }, formatChoice(), h("button", { type: "button", class: "primary", onclick: exportAll }, t("export_marked", { n: papers.length })),
          h("button", { type: "button", onclick: () => { clearMarks(); show(); } }, t("unmark_all")))]);
    };
    show();
    return [place, problems];
  });
}
