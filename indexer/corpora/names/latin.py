"""Names in scripts with capitals, without a comma: Ludwig van Beethoven, José Ortega y Gasset, Müller EM."""

import re

from indexer.corpora.names.parts import NameParts

PARTICLES = frozenset(
    "von vom zu zum zur van der den de ter ten 't te op af av da do dos das di du del della dello dei degli "
    "della la le los las lo bin bint ibn abu".split()
)
# With a capital they are part of the family name: Robert De Niro.
CAPITAL_PARTICLES = frozenset("Van Von De Der Den Di Du Da Dos Del Della Le La Lo El St. Saint".split())
AND_IN_FAMILY = frozenset(("y", "i"))  # José Ortega y Gasset, Antoni Puig i Cadafalch
SUFFIXES = frozenset("Jr Jr. Sr Sr. II III IV 2nd 3rd 4th".split())
AFTER_FAMILY = frozenset("Filho Neto Júnior Sobrinho".split())  # part of a Portuguese family name
KOREAN = frozenset(
    "Kim Lee Yi Rhee Park Pak Choi Choe Jung Jeong Chung Kang Cho Jo Yoon Yun Jang Chang Lim Im Han Oh Seo "
    "Suh Shin Sin Kwon Hwang Ahn An Song Ryu Yoo Yu Jeon Jun Hong Ko Go Moon Mun Yang Son Sohn Bae Baek Paik "
    "Heo Hur Nam Shim Sim Noh Roh Ha Kwak Gwak Sung Seong Cha Joo Ju Woo Koo Gu Min Na Jin Ji Um Eom Chae "
    "Won Cheon Bang Kong Hyun Ham Byun Yeo Choo Do So Seok Sun Seol".split()
)
VIETNAMESE = frozenset(
    "Nguyen Tran Pham Huynh Hoang Phan Vu Vo Dang Bui Ngo Duong Ly Nguyễn Trần Phạm".split()
)
HYPHENATED = re.compile("[A-Z][a-z]+-[a-z]+")  # Min-su
INITIALS = re.compile(r"[A-Z]{1,3}|(?:[^\W\d_]\.-?)+")
VOWEL = re.compile("[AEIOUY]")
SHORT = 2  # capitals that are initials even with a vowel
MOST_WORDS = 8


def split_western(name: str) -> NameParts | None:
    """Split a name whose family name is last, or first before initials; None if it stays whole."""
    words = name.split()
    if not 1 < len(words) <= MOST_WORDS or not all(map(_is_name_word, words)):
        return None
    if all(word.islower() for word in words):
        return None
    suffix = ""
    if words[-1] in SUFFIXES:
        if len(words) == 2:  # noqa: PLR2004 - a family name with a suffix
            return None
        *words, suffix = words
    begin = _family_first(words)
    if begin:
        family, given = words[:begin], words[begin:]
    elif words[0] in PARTICLES:  # a family name alone
        return None
    else:
        begin = _begin_of_family(words)
        given, family = words[:begin], words[begin:]
    particles = next((place for place, word in enumerate(family) if word not in PARTICLES), len(family))
    if particles == len(family):
        return None
    return NameParts(" ".join(family[particles:]), " ".join(given), " ".join(family[:particles]), suffix)


def _is_name_word(word: str) -> bool:
    letter = word.lstrip("'’ʻ‘")[:1]
    return letter.isalpha() and letter.lower() != letter.upper()


def _is_initials(word: str, before: list[str]) -> bool:
    """Check for EM or E.M. after a family name; KIM with its vowel is a name."""
    if not INITIALS.fullmatch(word) or all(INITIALS.fullmatch(each) for each in before):
        return False
    return len(word) <= SHORT or "." in word or not VOWEL.search(word)


def _family_first(words: list[str]) -> int:
    """Return the number of words of a family name that comes first; 0 if it comes last."""
    *first, last = words
    if _is_initials(last, first):  # Müller EM, as in PubMed
        return len(first)
    if len(first) == 1 and first[0] in KOREAN and HYPHENATED.fullmatch(last):  # Kim Min-su
        return 1
    capitals = first[0].isupper() and len(first[0]) > SHORT and VOWEL.search(first[0])
    if capitals and not any(word.isupper() for word in words[1:]):  # KIM Minsu
        return 1
    return 0


def _begin_of_family(words: list[str]) -> int:
    """Return the place of the first word of the family name, or of its particle."""
    last = len(words) - 1
    for place in range(1, last):
        if words[place] in PARTICLES:
            return place
        if words[place] in AND_IN_FAMILY and place > 1:
            return place - 1
        if words[place] in CAPITAL_PARTICLES and words[last] not in KOREAN | VIETNAMESE:
            return place
    return last - 1 if words[last] in AFTER_FAMILY and last > 1 else last
