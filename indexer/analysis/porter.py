"""The Porter stemmer with two later rules by its author, as in Lucene's `PorterStemFilter`.

M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, with the author's departures from the
article: `-bli` becomes `-ble` where the article had `-abli`, `-logi` becomes `-log`, and words of one or two
letters are unchanged. Snowball's "porter" lacks these rules, and importing a toolkit for them takes most of a
second at start-up.
"""

from functools import lru_cache

VOWELS = frozenset("aeiou")


def rules_of(listed: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of suffix and replacement in a list."""
    return tuple((suffix, end) for suffix, _, end in (rule.partition(":") for rule in listed.split()))


# (suffix, replacement) of the article's steps, longest match first within a group: only the longest matching
# suffix of a word is tried.
STEP_2 = rules_of(
    "ational:ate ization:ize iveness:ive fulness:ful ousness:ous tional:tion biliti:ble entli:ent ousli:ous "
    "ation:ate alism:al aliti:al iviti:ive enci:ence anci:ance izer:ize alli:al ator:ate logi:log bli:ble "
    "eli:e"
)
STEP_3 = rules_of("icate:ic ative: alize:al iciti:ic ical:ic ness: ful:")
STEP_4 = tuple("ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split())


@lru_cache(maxsize=1 << 17)
def porter_stem(word: str) -> str:
    """Return the stem of a lowercase `word`; characters outside a–z count as consonants."""
    if len(word) < 3:
        return word
    word = _step_1(word)
    if len(word) > 2:
        word = replace_longest(word, STEP_2)
        word = replace_longest(word, STEP_3)
        word = _step_4(word)
        word = _step_5(word)
    return word


def letter_types(word: str) -> str:
    """Return c for each consonant and v for each vowel; y is a consonant at the start and after a vowel."""
    types = ""
    for letter in word:
        is_vowel = letter in VOWELS or (letter == "y" and types.endswith("c"))
        types += "v" if is_vowel else "c"
    return types


def measure(stem: str) -> int:
    """Count the vowel–consonant sequences of `stem`: the article's m."""
    return letter_types(stem).count("vc")


def has_vowel(stem: str) -> bool:
    """Check whether any letter of `stem` is a vowel."""
    return "v" in letter_types(stem)


def ends_cvc(word: str) -> bool:
    """Check whether `word` ends with consonant, vowel, consonant, the last not w, x or y."""
    return letter_types(word).endswith("cvc") and word[-1] not in "wxy"


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]

    if word.endswith("eed"):
        if measure(word[:-3]) > 0:
            word = word[:-1]
    elif word.endswith(("ed", "ing")):
        stem = word[:-3] if word.endswith("ing") else word[:-2]
        word = _after_ed_or_ing(stem) if has_vowel(stem) else word
    if word.endswith("y") and has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _after_ed_or_ing(stem: str) -> str:
    """Restore the end of a stem whose `ed` or `ing` was removed; a short stem gets an e."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1:] and letter_types(stem).endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    if measure(stem) == 1 and ends_cvc(stem):
        return stem + "e"
    return stem


def replace_longest(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Replace the first suffix of `rules` that `word` ends with, if the rest has a measure above 0."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if measure(stem) > 0 else word
    return word


def _step_4(word: str) -> str:
    """Remove a suffix of `STEP_4` if the rest has a measure above 1."""
    for suffix in STEP_4:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            allowed = suffix != "ion" or stem.endswith(("s", "t"))
            return stem if allowed and measure(stem) > 1 else word
    return word


def _step_5(word: str) -> str:
    """Remove a final e, except from short stems, and one of two final l."""
    if word.endswith("e"):
        stem = word[:-1]
        size = measure(stem)
        if size > 1 or (size == 1 and not ends_cvc(stem)):
            word = stem
    if word.endswith("ll") and measure(word) > 1:
        word = word[:-1]
    return word
