// Theme and language, kept in a cookie, so that the server renders the page accordingly.

import { byId, toggles } from "./dom.js";
import { language, t } from "./i18n.js";

const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "☀", dark: "☾" };

function keep(name, value) {
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Strict`;
}

/** Enable the buttons that need scripts: language, colours, and others on the page. */
export function openPreferences() {
  const button = byId("theme");
  const show = () => {
    const theme = document.documentElement.dataset.theme;
    button.textContent = SIGNS[theme];
    button.setAttribute("aria-label", t("theme_is", { theme: t(`theme_${theme}`) }));
    button.title = t("theme_is", { theme: t(`theme_${theme}`) });
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    document.documentElement.dataset.theme = next;
    keep("shrag-theme", next);
    show();
  });
  show();
  toggles("menu");
  document.querySelectorAll("[data-language]").forEach((each) => each.addEventListener("click", () => {
    if (each.dataset.language === language) return;
    keep("shrag-language", each.dataset.language);
    const address = new URL(location.href);
    address.searchParams.delete("hl"); // it would override the choice
    history.replaceState(history.state, "", address);
    location.reload();
  }));
  document.querySelectorAll("button[disabled]").forEach((each) => { each.disabled = false; });
}
