"""Filters of a search: as values, as clauses, from typed text, and for records."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from base.notes import Note
from base.untrusted import one_line
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, Paper
from indexer.files.keys import author_key, author_keys, journal_key
from retriever.errors import BadFilter
from retriever.queries.boolean import Exact, ExactField, Not, Query, Range

YEARS = re.compile(
    r"(?:(?P<only>[0-9]{4})년?"
    r"|(?P<low>[0-9]{4})년?\s*(?:\.\.|[-–~])\s*(?P<high>[0-9]{4})년?"
    r"|(?P<since>[0-9]{4})년?\s*(?:\.\.|~)"
    r"|(?:\.\.|~)\s*(?P<until>[0-9]{4})년?)"
)
LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("ko", "korean", "한국어", "국문"), "ko"),
    **dict.fromkeys(("en", "english", "영어", "영문"), "en"),
    **dict.fromkeys(("other", "기타"), "other"),
}
Field = Literal[
    "text", "title", "year", "lang", "journal", "author", "type", "id", "doi", "passage_id", "doc_id", "part"
]
# Names of the fields in an expression, and before a colon in a question.
OTHER_NAMES: dict[Field, tuple[str, ...]] = {
    "title": ("제목", "ti"),
    "text": ("본문", "초록", "abstract"),
    "year": ("연도", "년도", "발행년", "발행연도"),
    "lang": ("언어", "language"),
    "journal": ("학술지", "저널"),
    "author": ("저자", "au", "authors"),
    "type": ("유형", "자료유형"),
}
SHOWN_FIELDS = ", ".join(f"{field} ({', '.join(names)})" for field, names in OTHER_NAMES.items())
FIELDS: dict[str, Field] = {
    name: field for field in get_args(Field) for name in (field, *OTHER_NAMES.get(field, ()))
}
FilterName = Literal["year", "lang", "journal", "author", "type", "incomplete"]
# The fields of `Filters` that belong to each filter.
FIELDS_OF_FILTER: Mapping[FilterName, tuple[str, ...]] = {
    "year": ("years", "years_if_known"),
    "lang": ("lang",),
    "journal": ("journal",),
    "author": ("author",),
    "type": ("type",),
    "incomplete": ("complete",),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that every hit must satisfy, which do not change its score."""

    years: Range | None = None
    years_if_known: Range | None = None  # of a strategy: a paper without a year is kept
    lang: str | None = None
    journal: str | None = None
    author: str | None = None
    type: str | None = None
    without: tuple[str, ...] = ()  # passage_ids that must not be found
    without_papers: tuple[str, ...] = ()  # doc_ids whose passages must not be found
    complete: bool | None = None  # True: only papers with an abstract or text; False: only others
    doc_ids: tuple[str, ...] = ()  # only passages of these papers, if any are given
    parts: tuple[str, ...] = ()  # only these parts of a paper (abstract, abstract2, body, passage)
    written: tuple[Query, ...] = ()  # of the question: quoted phrases, and values of fields

    def as_record(self) -> dict[str, Any]:
        """Return the caller's filters as JSON, for a trace."""
        years = [self.years.low, self.years.high] if self.years else None
        record = {"years": years, "lang": self.lang, "journal": self.journal}
        return record | {name: value for name in ("author", "type") if (value := getattr(self, name))}

    def without_filter(self, name: FilterName) -> "Filters":
        """Return the filters without one of them."""
        nothing: dict[str, Any] = dict.fromkeys(FIELDS_OF_FILTER[name])
        return replace(self, **nothing)

    def clauses(self) -> tuple[Query, ...]:
        """Return the filters as clauses; `complete` is left to the engine."""
        exact: Sequence[tuple[ExactField, str | None]] = (
            ("lang", self.lang),
            ("journal", self.journal),
            ("authors", self.author),
            ("type", self.type),
        )
        found: list[Query] = [Exact(field, (value,)) for field, value in exact if value]
        if self.years and (self.years.low, self.years.high) != (None, None):
            found.append(self.years)
        if asked := self.years_if_known:
            found += [Not(Range(None, asked.low - 1))] if asked.low is not None else []
            found += [Not(Range(asked.high + 1, None))] if asked.high is not None else []
        if self.doc_ids:
            found.append(Exact("doc_id", self.doc_ids))
        if self.parts:
            found.append(Exact("part", self.parts))
        found += self.written
        if self.without:
            found.append(Not(Exact("passage_id", self.without)))
        if self.without_papers:
            found.append(Not(Exact("doc_id", self.without_papers)))
        return tuple(found)


def parse_years(text: str) -> Range:
    """Parse 2019, 2019..2024, ..2024 or 2019.. (also 2019-2024 and 2019~2024).

    Raises:
        BadFilter: another form, a year outside 1000 to 2100, or the later year first.
    """
    found = YEARS.fullmatch(unicodedata.normalize("NFKC", text.strip()).replace("∼", "~"))
    if not found:
        raise BadFilter(Note("no_such_years", text=one_line(text)))
    low = found["only"] or found["low"] or found["since"]
    high = found["only"] or found["high"] or found["until"]
    for year in (low, high):
        if year and not FIRST_YEAR <= int(year) <= LAST_YEAR:
            raise BadFilter(Note("year_out_of_range", year=year, first=FIRST_YEAR, last=LAST_YEAR))
    if low and high and int(low) > int(high):
        raise BadFilter(Note("years_backwards", text=text, right=f"{high}..{low}"))
    return Range(int(low) if low else None, int(high) if high else None)


def parse_language(text: str) -> Language:
    """Parse ko, en or other, or the language's name in Korean or English; BadFilter for anything else."""
    language = LANGUAGES.get(unicodedata.normalize("NFC", text.strip()).lower())
    if language is None:
        raise BadFilter(Note("no_such_language", text=one_line(text)))
    return language


def make_filters(
    year: str | None,
    lang: str | None,
    journal: str | None,
    author: str | None = None,
    publication_type: str | None = None,
) -> Filters:
    """Make the filters of a search from typed values; None and blank values do not filter.

    Raises:
        BadFilter: invalid years or language, or another value that is not valid Unicode.
    """
    return Filters(
        years=parse_years(year) if year and year.strip() else None,
        lang=parse_language(lang) if lang and lang.strip() else None,
        journal=_exact_value("journal", journal),
        author=_exact_value("author", author),
        type=_exact_value("type", publication_type),
    )


def _exact_value(name: str, text: str | None) -> str | None:
    try:
        (text or "").encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadFilter(Note("filter_unreadable", filter=name, at=error.start)) from None
    return unicodedata.normalize("NFC", text.strip()) or None if text else None


def satisfies(paper: Paper, filters: Filters) -> bool:
    """Check whether a record satisfies year, language, journal, author, type and completeness of filters.

    A record without a year is outside all years.
    """
    years, kind = filters.years, (paper.model_extra or {}).get("type")
    if years and not (years.low or FIRST_YEAR) <= (paper.year or 0) <= (years.high or LAST_YEAR):
        return False
    return (
        filters.lang in {None, "", paper.lang}
        and (not filters.journal or journal_key(filters.journal) == journal_key(paper.journal))
        and (not filters.author or author_key(filters.author) in author_keys(paper.authors))
        and filters.type in {None, "", kind if isinstance(kind, str) else None}
        and filters.complete in {None, bool(paper.abstract or paper.abstract2 or paper.body)}
    )
