// The interface's words, in the language that the page was served in.

export const language = document.documentElement.lang;
/** Return the words of a file. */
export const wordsOf = async (name) => (await fetch(new URL(`words/${name}.json`, import.meta.url))).json();
const words = await wordsOf(language);
const numbers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);

/** Say something: `{name}` stands for a value, `{n|one|other}` for a number with its noun. */
export function t(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, other) => {
    const value = values[name] ?? "";
    const shown = typeof value === "number" ? numbers.format(value) : value;
    return one === undefined ? shown : `${shown} ${plurals.select(value) === "one" ? one : other}`;
  });
}

/** Load more words, which not every page has use for. */
export const learn = async (name) => Object.assign(words, await wordsOf(`${name}.${language}`));

export const has = (key) => key in words;
export const number = (value, digits = 0) =>
  value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const moment = (iso) =>
  new Date(iso).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
