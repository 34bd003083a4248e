"""Stems of NLTK's `PorterStemmer`, which `rouge-score` uses with `use_stemmer=True`.

NLTK changes Porter's algorithm (https://www.nltk.org/api/nltk.stem.porter.html, mode NLTK_EXTENSIONS):
irregular words, -ie of short words, a y after a vowel, stems such as `us` of *used*, -fully, -ally, -logy.
"""

from functools import lru_cache

from indexer.analysis.porter import (
    STEP_2,
    STEP_3,
    after_ed_or_ing,
    ends_cvc,
    has_vowel,
    letter_types,
    measure,
    replace_longest,
    step_4,
    step_5,
)

IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
    **{word: word for word in "sky news inning outing canning howe proceed exceed succeed".split()},
}
SHORT_IE = 4  # letters of *dies* and *died*
STEP_2_OF_NLTK = (*(rule for rule in STEP_2 if rule[0] != "logi"), ("fulli", "ful"))


@lru_cache(maxsize=1 << 16)
def nltk_stem(word: str) -> str:
    """Return the stem of a lowercase `word` of letters and digits."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) < 3:
        return word
    word = _step_1(word)
    word = _step_2(word)
    word = replace_longest(word, STEP_3)
    word = step_4(word)
    return step_5(word, _is_short)


def _step_1(word: str) -> str:
    if word.endswith("ies"):
        word = word[:-1] if len(word) == SHORT_IE else word[:-2]
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _without_ed_or_ing(word)
    if word.endswith("y") and len(word) > 2 and letter_types(word)[-2] == "c":
        word = word[:-1] + "i"
    return word


def _without_ed_or_ing(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == SHORT_IE else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and has_vowel(stem := word[: -len(suffix)]):
            return after_ed_or_ing(stem, _is_short)
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    return replace_longest(word, STEP_2_OF_NLTK)


def _is_short(stem: str) -> bool:
    """Check for consonant, vowel, consonant at the end, or a stem of a vowel and a consonant."""
    return ends_cvc(stem) or letter_types(stem) == "vc"
