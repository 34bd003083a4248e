// The texts of the interface, in the language of the page.

export const language = document.documentElement.lang;
/** Return the texts of a file. */
export const wordsOf = async (name) => (await fetch(new URL(`words/${name}.json`, import.meta.url))).json();
const words = await wordsOf(language);
const numbers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);

/** Format a text: `{name}` stands for a value, `{n|one|other}` for a number with its noun. */
export function t(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, other) => {
    const value = values[name] ?? "";
    const shown = typeof value === "number" ? numbers.format(value) : value;
    return one === undefined ? shown : `${shown} ${plurals.select(value) === "one" ? one : other}`;
  });
}

/** Load texts that only some pages use. */
export const learn = async (name) => Object.assign(words, await wordsOf(`${name}.${language}`));

export const has = (key) => key in words;
export const number = (value, digits = 0) =>
  value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const moment = (iso) =>
  new Date(iso).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
