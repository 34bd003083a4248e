// References taken along: of the marked papers, or of all that are shown.

import { download } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId, fill, h, langOf, save } from "./dom.js";
import { ENDINGS, FORMATS } from "./formats.js";
import { t } from "./i18n.js";
import { clearMarks, mark, markedPapers } from "./marks.js";
import { describe, say, sayProblem } from "./status.js";
import { paperAddress } from "./results.js";

let format = "ris";

function formatChoice() {
  const select = h("select", { "aria-label": t("format"), onchange: () => { format = select.value; } },
    Object.entries(FORMATS).map(([value, name]) => h("option", { value }, name)));
  select.value = format;
  return select;
}

async function exportPapers(ids, index) {
  const blob = await download("/api/v1/export", { body: { ids, index, format } });
  save(`shrag-${index}.${ENDINGS[format]}`, blob);
  say(t("exported", { n: ids.length, format: FORMATS[format] }));
}

/** Offer to export all hits of a result. */
export function showExport(result) {
  const ids = result.hits.map((hit) => hit.doc_id);
  fill(byId("results-tools"), ids.length > 0 && h("div", { class: "results-tools" }, formatChoice(),
    h("button", { type: "button", "data-key": "export", onclick: () => exportPapers(ids, result.index).catch(sayProblem) }, t("export_all", { n: ids.length }))));
}

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
        h("ul", {}, papers.map(({ index, id, title }) => h("li", {},
          h("a", { href: paperAddress(id, index), lang: langOf(title) }, title || id), " ",
          h("button", { type: "button", class: "plain", "aria-label": t("unmark", { title }), onclick: () => { mark(index, id, title, false); document.querySelectorAll(`[data-mark="${CSS.escape(id)}"]`).forEach((box) => { box.checked = false; }); show(); } }, t("remove"))))),
        h("div", { class: "row" }, formatChoice(), h("button", { type: "button", class: "primary", onclick: exportAll }, t("export_marked", { n: papers.length })),
          h("button", { type: "button", onclick: () => { clearMarks(); show(); } }, t("unmark_all")))]);
    };
    show();
    return [place, problems];
  });
}
