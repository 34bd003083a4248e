// A paper's page is complete without this script; it adds the tools, the way back, the mark, and citations to copy.

import { byId, disclosure } from "./dom.js";
import { citing } from "./exports.js";
import { t } from "./i18n.js";
import { markBox } from "./kept.js";
import { openTools } from "./frame.js";

openTools();
const back = byId("back");
if (back && history.length > 1 && document.referrer.startsWith(`${location.origin}/`)) {
  back.hidden = false;
  back.addEventListener("click", (event) => { event.preventDefault(); history.back(); });
}
const place = byId("mark");
const cite = byId("cite");
if (cite) {
  const { doc, index, title } = cite.dataset;
  const [button, shown] = disclosure(`▸ ${t("cite")}`, () => citing({ doc_id: doc, title }, index, { files: false }));
  cite.replaceChildren(button);
  cite.after(shown);
}
if (place) place.append(markBox(place.dataset.index, place.dataset.doc, place.dataset.title, t("mark")));
