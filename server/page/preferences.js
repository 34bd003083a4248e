// Theme and language: kept in a cookie, so that the page arrives as the reader wants it.

import { byId } from "./dom.js";
import { language, t } from "./i18n.js";

const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "☀", dark: "☾" };

function keep(name, value) {
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Strict`;
}

/** Make the buttons that need scripts work: language, colours, and whatever else the page has now. */
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
  document.querySelectorAll("[data-language]").forEach((each) => each.addEventListener("click", () => {
    if (each.dataset.language === language) return;
    keep("shrag-language", each.dataset.language);
    const address = new URL(location.href);
    address.searchParams.delete("hl"); // it would be stronger than the choice
    history.replaceState(history.state, "", address);
    location.reload();
  }));
  document.querySelectorAll("button[disabled]").forEach((each) => { each.disabled = false; });
}
