"""Explicit conditions of a question: fields, quotations, -word, NOT, a few phrases for exclusions and years.

Only these signs count. Everything else is left to a model's strategy, or to the exclusions and filters that a
person gives. Each condition is shown with the result and can be removed.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from indexer.analysis import Analyzer
from retriever.errors import BadFilter
from retriever.queries.filters import FIELDS, parse_language, parse_years
from retriever.strategy import MAX_CHARACTERS as MAX_THING
from retriever.strategy import MAX_EXCLUSIONS

MAX_CHARACTERS = 1_000  # a longer text was pasted in and has no conditions
YEAR = r"(?P<{}>(?:19|20)\d\d)"
FIRST, LAST = YEAR.format("first"), YEAR.format("last")
# A thing: the words up to the end of the question or of its clause, or the Korean words before the sign.
ENGLISH_THING = r"(?P<thing>[^,.;:?!()\n]{2,60}?)"
END = r"(?=\s*(?:[,.;:?!()\n]|$))"
NO_LETTER = r"(?![^\W가-힣])"  # the end of a word, or its particle
KOREAN_THING = r"(?P<thing>\"[^\"]{2,60}\"|[\w·&/+-]*?[\w&+])"
EXCEPT = "but not|but without|except for|except|excluding|not including|apart from"
# 포기하지 말고, "do not give up but", is a verb's.
KOREAN_EXCEPT = "(?:제외하고|제외한|빼고|뺀|(?<!하지 )(?<!하지)말고|이외의)"
EXCLUSIONS = tuple(
    re.compile(pattern)
    for pattern in (
        # -word, -"two words"
        r"(?<![\w-])-(?P<thing>\"[^\"]{2,60}\"|[^\W\d_][\w+#.]+(?:-[\w+#.]+)*|[가-힣])(?![\w-])",
        r"(?:(?<=[^\W_A-Z\d]\s)|(?<=\S\s)(?=NOT\s+(?:\"|\S*[a-z가-힣])))NOT\s+(?P<thing>\"[^\"]{2,60}\"|[\w+#.-]+)",
        rf"(?i:,\s*other than|,?\s*\b(?:{EXCEPT}))\s+{ENGLISH_THING}{END}",
        rf"(?:^|(?<=[\s,])){KOREAN_THING}(?:[을를은는만]\s?|\s)?{KOREAN_EXCEPT}(?=\s|,|$)",
    )
)
# By pattern: numbers to add to the first and the last year.
YEARS: Mapping[re.Pattern[str], tuple[int, int]] = {
    re.compile(rf"(?i:,?\s*\b(?:published\s+)?since)\s+{FIRST}{END}"): (0, 0),
    re.compile(rf"(?i:,?\s*\bpublished\s+after)\s+{FIRST}{END}"): (1, 0),
    re.compile(rf"(?i:,?\s*\bpublished\s+(?:before|prior to))\s+{LAST}{END}"): (0, -1),
    re.compile(rf"(?i:,?\s*\bpublished\s+(?:from|between))\s+{FIRST}\s+(?i:to|and)\s+{LAST}{END}"): (0, 0),
    re.compile(rf"(?i:,?\s*\bpublished\s+in)\s+(?P<first>(?P<last>(?:19|20)\d\d)){END}"): (0, 0),
    re.compile(
        rf"(?<!\d){FIRST}년?\s?(?:부터|에서|~|-|–)\s?{LAST}년(?:까지|\s?사이에?)?\s?(?:발표|출판|나온|쓰인|게재)\w*"
    ): (0, 0),
    re.compile(r"(?<!\d)(?P<first>(?P<last>(?:19|20)\d0))년대에\s?(?:발표|출판|나온|쓰인|게재)\w*"): (0, 9),
    re.compile(rf"(?<!\d){FIRST}년\s?(?:이후|부터)(?:에|의)?\s?(?:발표|출판|나온|쓰인|게재)\w*"): (0, 0),
    re.compile(rf"(?<!\d){LAST}년\s?(?:이전|까지)(?:에|의)?\s?(?:발표|출판|나온|쓰인|게재)\w*"): (0, 0),
    re.compile(rf"(?:^|(?<=\s)){FIRST}년\s?이후(?:의)?(?=\s+[^?]*(?:논문|연구|문헌)\W*$|$)"): (0, 0),
    re.compile(rf"(?:^|(?<=\s)){LAST}년\s?이전(?:의)?(?=\s+[^?]*(?:논문|연구|문헌)\W*$|$)"): (0, 0),
}


FIELDS_OF_QUESTIONS = frozenset({"author", "doi", "id", "journal", "lang", "title", "type", "year"})
PLAIN_VALUE = r"[^\s/:：\"“][^\s\"“]*"
FIELD = re.compile(
    rf"(?<![^\s(])(?P<no>-|NOT\s+|(?i:{EXCEPT}|other than)\s+)?(?P<name>[^\W\d_]+)[:：]"
    rf"(?:\"(?P<quoted>[^\"]+)\"|“(?P<curly>[^“”]+)”"
    rf"|(?P<plain>{PLAIN_VALUE}?(?=(?:[을를은는만]\s?|\s){KOREAN_EXCEPT}(?:\s|,|$))|{PLAIN_VALUE}))"
    rf"(?P<korean_no>(?:[을를은는만]\s?|\s)?{KOREAN_EXCEPT}(?=\s|,|$))?"
)
PHRASE = re.compile(
    "|".join(rf"{one}([^{one}{other}]{{2,200}}){other}" for one, other in ('""', "“”", "「」", "『』"))
)
OPERATORS = frozenset("AND OR NOT & | ( )".split())


class FieldValue(NamedTuple):
    """A value of a field, `author:Jang`, that papers must have, or must not have."""

    field: str
    value: str
    is_excluded: bool = False

    @property
    def text(self) -> str:
        """The condition in the expert language."""
        return f'{"NOT " * self.is_excluded}{self.field}:"{self.value}"'


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a question, and the question without them (composed, NFC).

    The words of `phrases` remain in the question. `expression` is the whole question in the expert language
    if nothing else remains of it than fields.
    """

    remaining: str
    exclude: tuple[str, ...] = ()
    years: tuple[int | None, int | None] | None = None
    fields: tuple[FieldValue, ...] = ()
    phrases: tuple[str, ...] = ()
    expression: str = ""


def find_conditions(question: str, *, fields: bool = True) -> Conditions:
    """Find the explicit conditions of a question; without `fields` these are words.

    Without words or fields besides its exclusions and years, a question has none: it asks for them.
    """
    text = unicodedata.normalize("NFC", question)
    if len(text) > MAX_CHARACTERS:
        return Conditions(text)
    words, values = _cut_fields(text) if fields else (text, ())
    spans = sorted(_spans(words))
    excluded: list[str] = []
    years: tuple[int | None, int | None] | None = None
    pieces, end = [], 0
    for start, stop, thing, range_ in spans:
        if start < end:
            continue  # within an earlier condition
        if range_:
            if years:
                continue  # two ranges may contradict each other
            years = range_
        elif len(excluded) == MAX_EXCLUSIONS or len(thing) > MAX_THING:
            continue
        else:
            excluded.append(thing)
        pieces.append(words[end:start])
        end = stop
    remaining = " ".join(" ".join([*pieces, words[end:]]).split())
    found = Conditions(remaining, tuple(dict.fromkeys(excluded)), years, values)
    if any(map(str.isalnum, remaining)) and not OPERATORS.issuperset(remaining.split()):
        return replace(found, phrases=tuple("".join(groups) for groups in PHRASE.findall(remaining)))
    if all(value.is_excluded for value in values):
        return Conditions(text)
    return replace(found, expression=text if remaining else _expression(found))


def without_fields(question: str) -> str:
    """Return a question without its fields, for a model; a question of nothing else is unchanged."""
    text, values = _cut_fields(unicodedata.normalize("NFC", question))
    words = " ".join(text.split())
    return words if values and any(map(str.isalnum, words)) else question


def _cut_fields(text: str) -> tuple[str, tuple[FieldValue, ...]]:
    """Return a text without its fields, and these."""
    values = []

    def cut(found: re.Match[str]) -> str:
        field = FIELDS.get(found["name"].lower(), "")
        value = found["quoted"] or found["curly"] or found["plain"]
        if found["plain"] and not (field == "year" and _is_value(field, value)):  # 2019..
            value = value.rstrip(".,;?!" if "(" in value else ".,;?!)")
        if field not in FIELDS_OF_QUESTIONS or not _is_value(field, value):
            return found[0]
        values.append(FieldValue(field, value, is_excluded=bool(found["no"] or found["korean_no"])))
        return " "

    return FIELD.sub(cut, text), tuple(values)


def _is_value(field: str, value: str) -> bool:
    try:
        if field == "year":
            parse_years(value)
        elif field == "lang":
            parse_language(value)
    except BadFilter:
        return False
    return any(map(str.isalnum, value))


def _expression(found: Conditions) -> str:
    low, high = found.years or (None, None)
    parts = [value.text for value in found.fields] + [f'NOT "{thing}"' for thing in found.exclude]
    return " ".join(parts + [f"year:{low or ''}..{high or ''}"] * (found.years is not None))


def _spans(text: str) -> Iterator[tuple[int, int, str, tuple[int | None, int | None] | None]]:
    """Yield start, end, excluded thing and years of each condition."""
    for pattern in EXCLUSIONS:
        for match in pattern.finditer(text):
            if thing := match["thing"].strip('" '):
                yield match.start(), match.end(), thing, None
    for pattern, (to_first, to_last) in YEARS.items():
        for match in pattern.finditer(text):
            found = match.groupdict()
            first, last = found.get("first"), found.get("last")
            range_ = int(first) + to_first if first else None, int(last) + to_last if last else None
            if not (first and last and int(first) > int(last)):
                yield match.start(), match.end(), "", range_


def without_words(question: str, things: Sequence[str], analyzer: Analyzer) -> str:
    """Return a question without its conditions, and without the words of other excluded things.

    An encoder and a cross-encoder get this text: a vector has no NOT.
    """
    found = find_conditions(question)
    if set(found.exclude) <= set(things):
        text = found.remaining
    else:
        text, _ = _cut_fields(unicodedata.normalize("NFC", question))
    tokens, cut = analyzer.analyze(text), set[int]()
    for thing in things:
        name = [token[0] for token in analyzer.analyze(thing)]
        runs = (tokens[start : start + len(name)] for start in range(len(tokens) if name else 0))
        spans = [(run[0][2], run[-1][3]) for run in runs if [token[0] for token in run] == name]
        spans += (match.span() for match in re.finditer(rf"(?i)(?<!\w){re.escape(thing)}{NO_LETTER}", text))
        cut.update(place for span in spans for place in range(*span))
    text = " ".join("".join(" " if at in cut else letter for at, letter in enumerate(text)).split())
    return text if any(map(str.isalnum, text)) else question
