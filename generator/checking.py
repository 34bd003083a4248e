"""The check of a sentence of an answer without a model, and hints for its reader.

Sentences of one cited passage are supported, sentences without citations unsupported. All others are
"not checked" until a model judges them (`generator/answers/judging.py`). Hints name what the passages lack: a
number, a number with this unit, or a name. They are no verdict: a sentence with a hint may be right, and most
wrong sentences have none.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from math import isclose
from typing import Literal

from base.patterns import lazy_regex
from indexer.corpora.chunking import split_sentences
from indexer.corpora.papers import Language, language_of
from indexer.files.schema import StoredPassage

# Numbers with their units: "9만 4천" equals "94,000", "12 months" "1년", and "twice" in a passage "2배"

# Names of units by dimension and factor; ~ is a space. A difference of shares is compared as a share.
NAMES: dict[tuple[str, float], str] = {
    ("share", 1): "% percent per~cent 퍼센트 프로 %p %포인트 %~points %~point percentage~points "
    "percentage~point pp 퍼센트포인트 points point 점",
    ("second", 1): "seconds second secs sec s 초",
    ("second", 60): "minutes minute mins min 분",
    ("second", 3_600): "hours hour hrs hr h 시간",
    ("second", 86_400): "days day 일",
    ("second", 604_800): "weeks week 주",
    ("month", 1): "months month 개월 달",
    ("month", 12): "years year yr 년 세 살",
    ("won", 1): "won KRW 원",
    ("dollar", 1): "dollars dollar USD 달러",
    ("times", 1): "times -fold fold 배",
    ("degree", 1): "°C 도",
    ("degree F", 1): "°F",
    ("g", 1e6): "tonnes tonne tons ton t 톤",
    ("g", 1e3): "kilograms kilogram 킬로그램",
    ("g", 1): "grams gram 그램",
    ("m", 1e3): "kilometres kilometers 킬로미터",
    ("m", 1e-2): "centimetres centimeters 센티미터",
    ("m", 1e-3): "millimetres millimeters 밀리미터",
    ("m", 1): "metres meters metre meter 미터",
    ("m2", 1e4): "hectares hectare ha 헥타르",
    ("L", 1): "litres liters litre liter 리터",
}
PREFIXES = {"n": 1e-9, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
SYMBOLS = "g m m2 m3 s Pa Hz V A W Wh Ah J cal L l mol eV".split()
BASE_UNITS = {"l": "L", "s": "second"}
POWERS = {"m2": 2, "m3": 3}
UNITS: dict[str, tuple[str, float]] = {
    prefix + symbol: (BASE_UNITS.get(symbol, symbol), factor ** POWERS.get(symbol, 1))
    for symbol in SYMBOLS
    for prefix, factor in PREFIXES.items()
} | {name.replace("~", " "): unit for unit, names in NAMES.items() for name in names.split()}


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


_HANGUL = [name for name in UNITS if re.fullmatch("[가-힣]+", name)]
_LATIN = UNITS.keys() - set(_HANGUL)
UNIT = lazy_regex(
    rf"[\s-]?((?:{_any_of(_LATIN)})(?![A-Za-z0-9])(?:/[A-Za-z]+\d?)?|(?:{_any_of(_HANGUL)})(?!의\s?\d))"
)
DIGITS = r"\d{1,3}(?:[, ]\d{3})+(?!\d)(?:\.\d+)?|\d*\.?\d+"
# Not the digits of CO2, KS27 and COVID-19.
NUMBER = lazy_regex(rf"(?<![A-Za-z\d.])(?<![A-Za-z]-)(?:{DIGITS})")
LARGE = {"십": 10, "백": 100, "천": 1_000, "만": 10**4, "억": 10**8, "조": 10**12}
LARGE |= {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MULTIPLIER = lazy_regex(r"([십백천]?[만억조]|[십백천])|\s(hundred|thousand|million|billion|trillion)\b")
NEXT_PART = lazy_regex(rf"\s?({DIGITS})(?=[십백천만억조])")
# Numbers in words are read in passages only: a sentence may report them in digits.
ONES = (
    "한 하나 one|두 둘 two|세 셋 three|네 넷 four|다섯 five|여섯 six|일곱 seven|여덟 eight|아홉 nine|열 ten|"
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|스무 twenty"
).split("|")
TENS = "열|스물 twenty|서른 thirty|마흔 forty|쉰 fifty|예순 sixty|일흔 seventy|여든 eighty|아흔 ninety".split(
    "|"
)
MONTHS = "january february march april may june july august september october november december".split()
WORDS = {word: value for value, words in enumerate(ONES, 1) for word in words.split()}
WORDS |= {word: 10 * value for value, words in enumerate(TENS, 1) for word in words.split()}
WORDS |= {month: value for value, month in enumerate(MONTHS, 1)}
WITH_UNIT: dict[str, tuple[float, str]] = {
    **dict.fromkeys(("half", "절반"), (50, "share")),
    **dict.fromkeys(("twice", "double", "doubled", "갑절"), (2, "times")),
    "quarter": (25, "share"),
    "third": (100 / 3, "share"),
    "tripled": (3, "times"),
}
NUMBER_WORD = lazy_regex(
    rf"(?<![A-Za-z가-힣])(?:({_any_of(word for words in TENS for word in words.split())})[\s-]?)?"
    rf"({_any_of([*WORDS, *WITH_UNIT])})(?![a-z])"
)
FIRST_YEAR, LAST_YEAR, YEAR_SIGNS = 1000, 2100, {"s", "년"}  # 1990s, 1990년


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    `text` is the number as written, `decimals` the count of its decimal places. `dimension` is empty without
    a known unit, `per` is the denominator of the unit: L in mg/L.
    """

    value: float
    text: str
    dimension: str = ""
    factor: float = 1.0
    per: str = ""
    decimals: int = 0

    def reports(self, other: "Quantity") -> bool:
        """Check whether the number states the other one: equal or rounded.

        A number without a known unit may have any unit.
        """
        if self.per and other.per and self.per != other.per:
            return False
        own, given = self.value, other.value
        if self.dimension and other.dimension:
            if self.dimension != other.dimension:
                return False
            if self.factor != other.factor:
                given = given * other.factor / self.factor
        rounds = self.decimals < other.decimals or self.factor != other.factor
        if rounds and abs(own - given) <= 0.5 * 10**-self.decimals:
            return True
        return isclose(own, given, rel_tol=1e-9)


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers in digits of a text in normal form NFKC, in order."""
    end = 0
    for match in NUMBER.finditer(text):
        start = match.start()
        if start < end:  # read with the number before it
            continue
        value, end = _value(text, match[0], match.end())
        decimals = len(match[0].partition(".")[2])
        dimension, factor, per, unit = "", 1.0, "", UNIT.match(text, end)
        if unit and not (FIRST_YEAR <= value <= LAST_YEAR and unit[1] in YEAR_SIGNS):
            name, _, per = unit[1].partition("/")
            (dimension, factor), end = UNITS[name], unit.end()
        yield Quantity(value, text[start:end], dimension, factor, per, decimals)


def _value(text: str, digits: str, end: int) -> tuple[float, int]:
    """Return the value of digits with the words behind them, and the end: 1억 2천만, 1.4 million."""
    total, value = 0.0, _of_digits(digits)
    while match := MULTIPLIER.match(text, end):
        for word in (match[2],) if match[2] else match[1]:
            value *= LARGE[word]
        total, value, end = total + value, 0.0, match.end()
        if (following := NEXT_PART.match(text, end)) is None:
            break
        value, end = _of_digits(following[1]), following.end()
    return total + value, end


def _of_digits(digits: str) -> float:
    return float(digits.replace(",", "").replace(" ", ""))


def quantities_in_words(text: str) -> Iterator[Quantity]:
    """Yield the number words of a text; one without a unit is a count."""
    text = text.lower()
    for match in NUMBER_WORD.finditer(text):
        if match[2] in WITH_UNIT:
            value, dimension = WITH_UNIT[match[2]]
            yield Quantity(value, match[0], dimension, decimals=4)
            continue
        unit = UNIT.match(text, match.end())
        dimension, factor = UNITS[unit[1].partition("/")[0]] if unit else ("count", 1.0)
        yield Quantity(WORDS[match[2]] + WORDS.get(match[1] or "", 0), match[0], dimension, factor)


# Sentences

# quoted: the words of a paper. excluded: about a thing that the question excludes.
Check = Literal["supported", "unsupported", "not checked", "excluded", "quoted"]
HintCode = Literal["citation", "number", "unit", "name", "judge"]

LONGEST_CLAIM, LONGEST_PASSAGE = 2_000, 20_000  # characters that are compared
SMALL = 10  # smaller counts without a unit are often words in the passage
# Capitals after the first letter, or a capital and a digit: PCR, LiDAR, NMC811, IL-6.
ACRONYM = lazy_regex(r"(?<![A-Za-z0-9.])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*(?:-\d+)?")
NAME = lazy_regex(r"(?<=[a-z,;:)] )[A-ZÀ-Þ][a-zß-ÿ]{2,}(?![A-Za-z0-9])")  # not at the start of a sentence
WORD = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9-]*")
LEAST_STEM = 4  # letters shared by Sweden and Swedish; a shorter form is a word with a capital or a digit
INITIALS = range(2, 9)  # letters of an abbreviation that are compared with initials
SMALL_WORD = "(?:(?:of|the|and|for|in|with|to) )?"


@dataclass(frozen=True, slots=True)
class Hint:
    """What speaks against a sentence: a code, and values for a message.

    citation: nothing is cited. number, unit, name: `text` is not in the cited passages. judge: `text` is what
    the model missed.
    """

    code: HintCode
    values: dict[str, str]


def check_sentence(text: str, passages: Sequence[StoredPassage]) -> tuple[Check, tuple[Hint, ...]]:
    """Check a sentence against the passages that it cites: the check without a model, and hints."""
    if not passages:
        return "unsupported", (Hint("citation", {}),)
    cited = [_cited(passage) for passage in passages]
    claim = unicodedata.normalize("NFKC", text)[:LONGEST_CLAIM]
    parts = {_plain(claim[start:end]) for start, end in split_sentences(claim)}
    if parts and len(text) <= LONGEST_CLAIM and any(parts <= each.sentences for each in cited):
        return "supported", ()
    found = dict.fromkeys([*_numbers(claim, cited), *_names(claim, cited)])
    return "not checked", tuple(Hint(code, {"text": words}) for code, words in found)


@dataclass(frozen=True, slots=True)
class _Cited:
    """What a sentence is compared with: the parts of a passage in normal form NFKC."""

    language: Language
    sentences: frozenset[str]
    quantities: tuple[Quantity, ...]
    text: str  # in lower case
    squeezed: str  # its letters and digits
    short_names: frozenset[str]  # words with a capital or a digit, in lower case


@lru_cache(maxsize=64)
def _cited(passage: StoredPassage) -> _Cited:
    authors = (passage.paper or {}).get("authors", ())
    parts = (passage.title, passage.journal, passage.text, passage.title2, *authors, str(passage.year or ""))
    text = unicodedata.normalize("NFKC", "\n".join(filter(None, parts)))[:LONGEST_PASSAGE]
    named = [word for word in WORD.findall(text) if not word.islower()]
    short = {_squeezed(part) for word in named for part in (word, *word.split("-"))}
    return _Cited(
        language_of(text),
        frozenset(
            _plain(line[start:end]) for line in text.split("\n") for start, end in split_sentences(line)
        ),
        (*quantities(text), *quantities_in_words(text)),
        text.casefold(),
        _squeezed(text),
        frozenset(short | {word.removesuffix("s") for word in short}),
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .。")


def _numbers(claim: str, cited: Sequence[_Cited]) -> Iterator[tuple[HintCode, str]]:
    """Yield the numbers of a claim that no passage states, also not as a difference of two numbers."""
    stated = [quantity for each in cited for quantity in each.quantities]
    for quantity in quantities(claim):
        small = not quantity.dimension and not quantity.decimals and quantity.value <= SMALL
        if small or quantity.value == 1 or any(map(quantity.reports, stated)):
            continue
        if quantity.dimension and _is_difference(quantity, stated):
            continue
        yield "unit" if any(quantity.value == other.value for other in stated) else "number", quantity.text


def _is_difference(quantity: Quantity, stated: Sequence[Quantity]) -> bool:
    unit = quantity.dimension, quantity.factor
    like = {round(each.value, 6) for each in stated if (each.dimension, each.factor) == unit}
    return any(round(value + quantity.value, 6) in like for value in like)


def _names(claim: str, cited: Sequence[_Cited]) -> Iterator[tuple[HintCode, str]]:
    """Yield abbreviations that the passages lack, also in full; in English passages other names, too."""

    def has(form: str) -> bool:
        if form.isascii() and len(form) < LEAST_STEM:
            return any(form in each.short_names for each in cited)
        return any(form in each.squeezed for each in cited)

    def lacks(name: str, stem: str) -> bool:
        return not any(map(has, _aliases().get(_squeezed(name), (stem,))))

    for name in ACRONYM.findall(claim):
        spelled = any(_spells(name, each.text) for each in cited)
        if not spelled and lacks(name, _squeezed(name).rstrip("s")):
            yield "name", name
    if language_of(claim) == "en" and any(each.language == "en" for each in cited):
        for name in NAME.findall(claim):
            if lacks(name, _squeezed(name)[: max(LEAST_STEM, len(name) - 1)]):
                yield "name", name


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _spells(name: str, text: str) -> bool:
    """Check whether the initials of words of a text spell a name: loan-to-value for LTV."""
    letters = [letter for letter in name.rstrip("s").lower() if letter.isalpha()]
    pattern = rf"[a-z]*[\s-]{SMALL_WORD}".join(map(re.escape, letters))
    return len(letters) in INITIALS and re.search(rf"\b{pattern}", text) is not None


@cache
def _aliases() -> dict[str, tuple[str, ...]]:
    """Read the names of one thing, a line each: USA, United States, 미국."""
    rows = resources.files("generator").joinpath("aliases.tsv").read_text(encoding="utf-8").splitlines()
    named = [tuple(map(_squeezed, row.split("\t"))) for row in rows if not row.startswith("#")]
    return {name: names for names in named for name in names}
