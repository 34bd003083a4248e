"""The search strategy of a question: what to search for in each language, and what to leave out.

A strategist makes it: a language model, statistics of the index (`statistics_strategist.py`), or a person.
Its JSON, one object for a question, is the same in files, calls, traces and run manifests:

    {"ko": ["열폭주", "배터리"], "en": ["thermal runaway", "battery"],   most important first
     "exclude": [{"ko": "냉각판", "en": "cooling plate"}],
     "years": [2015, null],                                             first and last; null is open
     "steps": ["Which …?", "Where …?"],                                 single-hop questions, or none
     "origin": "model"}
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
)

from base.errors import InvalidCall
from base.notes import Note
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, language_of, why_invalid
from retriever.errors import BadQuestion
from retriever.queries.boolean import Range

# The languages of an index, in which a strategy has keywords.
LANGUAGES: Final[tuple[Language, ...]] = ("ko", "en")
Origin = Literal["model", "statistics", "person", "recorded"]
Strategist = Literal["model", "statistics"]
MAX_KEYWORDS = 50  # of one language
MAX_CHARACTERS = 200  # of a keyword or an excluded thing
MAX_EXCLUSIONS = 20
MAX_STEPS = 10


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHARACTERS),
    AfterValidator(partial(unicodedata.normalize, "NFC")),
]
Step = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Year = Annotated[int, Field(ge=FIRST_YEAR, le=LAST_YEAR)]
Exclusion = Annotated[
    dict[Literal[LANGUAGES], Text],  # type: ignore[valid-type]
    Field(
        min_length=1, description="the excluded thing in each language", examples=[{"en": "cooling plate"}]
    ),
]
Keywords = Annotated[tuple[Text, ...], Field(max_length=MAX_KEYWORDS, description="most important first")]


class Strategy(BaseModel):
    """Keywords by language in order of importance, exclusions, years, and steps of a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ko: Keywords = ()  # one field for each of LANGUAGES
    en: Keywords = ()
    exclude: Annotated[tuple[Exclusion, ...], Field(max_length=MAX_EXCLUSIONS)] = ()
    years: Annotated[
        tuple[Year | None, Year | None] | None, Field(description="first and last year; null is open")
    ] = None
    steps: Annotated[tuple[Step, ...], Field(max_length=MAX_STEPS, description="single-hop questions")] = ()
    origin: Origin = "recorded"

    @field_validator("years")
    @classmethod
    def _check_years(
        cls, years: tuple[int | None, int | None] | None
    ) -> tuple[int | None, int | None] | None:
        if years is None or years == (None, None):
            return None
        first, last = years
        if first is not None and last is not None and first > last:
            raise ValueError(f"the first year {first} is after the last year {last}")
        return years

    @classmethod
    def of_person(cls, keywords: Iterable[str]) -> Self:
        """Return the strategy of typed keywords, each in its language and in the given order.

        Raises:
            BadQuestion: too many keywords, or one that is empty, too long or not valid Unicode.
        """
        return cls().with_keywords(keywords)

    def keywords(self, language: Language) -> tuple[str, ...]:
        """Return the keywords of a language, most important first."""
        found: tuple[str, ...] = getattr(self, language, ())
        return found

    def with_keywords(self, keywords: Iterable[str]) -> Self:
        """Return the strategy with the keywords of a person, each in its language."""
        sides: dict[str, list[str]] = {language: [] for language in LANGUAGES}
        for text in keywords:
            sides[language_of_text(text)].append(text)
        return self.changed(origin="person", **sides)

    def excluding(self, texts: Sequence[str]) -> Self:
        """Return the strategy with more excluded things; beyond the limit, its own last ones are left out.

        Raises:
            BadQuestion: The texts alone are more than the limit, or one is too long.
        """
        added = [{language_of_text(text): text} for text in texts]
        kept = self.exclude[: max(0, MAX_EXCLUSIONS - len(added))]
        return self.changed(exclude=[*kept, *added]) if added else self

    def changed(self, **values: Any) -> Self:
        """Return the strategy with other values, checked; raise BadQuestion if one is invalid."""
        try:
            return type(self).model_validate(self.model_dump() | values)
        except ValidationError as error:
            raise BadQuestion(Note("strategy_invalid", error=why_invalid(error))) from None

    @property
    def excluded_texts(self) -> tuple[str, ...]:
        """The texts of the excluded things in all languages."""
        return tuple(text for thing in self.exclude for text in thing.values())

    @property
    def has_keywords(self) -> bool:
        """Whether there is a keyword in any language."""
        return any(map(self.keywords, LANGUAGES))

    @property
    def year_range(self) -> Range | None:
        """The years as a filter; None without years."""
        return Range(*self.years) if self.years else None

    def as_record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self.model_dump(mode="json")


def languages_from(first: Language) -> list[Language]:
    """Return LANGUAGES with a language first, if it is one of them."""
    return sorted(LANGUAGES, key=lambda language: language != first)


def language_of_text(text: str) -> Language:
    """Return the language of LANGUAGES that a text is written in; English without letters, as for digits."""
    language = language_of(text)
    return language if language in LANGUAGES else LANGUAGES[-1]


def parse_strategy(data: Any, source: str) -> Strategy:
    """Return the strategy of a JSON object; other keys than its own, as `query_id`, are left out.

    Raises:
        InvalidCall: it is no strategy; `source` is its name in the message.
    """
    if not isinstance(data, dict):
        raise InvalidCall(f"{source}: a strategy is a JSON object with keywords by language")
    known = {name: value for name, value in data.items() if name in Strategy.model_fields}
    try:
        strategy = Strategy.model_validate(known)
    except ValidationError as error:
        raise InvalidCall(f"{source}: {why_invalid(error)}") from None
    if not strategy.has_keywords:
        raise InvalidCall(f"{source}: no keywords; write a list under {' or '.join(map(repr, LANGUAGES))}")
    return strategy


def read_strategy(path: Path) -> Strategy:
    """Read a file with one strategy; raise InvalidCall if it cannot be read or is invalid."""
    return parse_strategy(_json_of(_read(path), str(path)), str(path))


def read_strategies(path: Path, receive: Callable[[bytes], object] = lambda _: None) -> dict[str, Strategy]:
    """Read recorded strategies by `query_id`, one JSON object a line; InvalidCall names an invalid line.

    `receive` is called with the bytes of the file.
    """
    content = _read(path)
    receive(content)
    found: dict[str, Strategy] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        source = f"{path}, line {number}"
        data = _json_of(line, source)
        query_id = data.get("query_id") if isinstance(data, Mapping) else None
        if not isinstance(query_id, str):
            raise InvalidCall(f"{source}: the field query_id is missing")
        if query_id in found:
            raise InvalidCall(f"{source}: a second strategy for query_id {query_id!r}")
        found[query_id] = parse_strategy(data, source)
    if not found:
        raise InvalidCall(f"{path} contains no strategies")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None


def _json_of(data: bytes, source: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise InvalidCall(f"{source} is not JSON in UTF-8: {error}") from None
