// A paper's page is complete without this script; it adds the reader's preferences, and the mark.

import { byId } from "./dom.js";
import { markBox } from "./marks.js";
import { t } from "./i18n.js";
import { openPreferences } from "./preferences.js";

openPreferences();
const place = byId("mark");
if (place) place.append(markBox(place.dataset.index, place.dataset.doc, place.dataset.title, t("mark")));
