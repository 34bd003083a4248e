"""Constraints of a question on its papers: exclusions, and years of publication."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, PlainSerializer
from typing_extensions import TypedDict

from retriever.constraints.english_exclusions import english_exclusions
from retriever.constraints.exclusions import Exclusion, Writing
from retriever.constraints.korean_exclusions import korean_exclusions
from retriever.constraints.years import ONLY_PAPERS, YearRange, are_compared, find_years, unwanted_years
from retriever.queries.boolean import Range
from retriever.settings import RetrieverSettings

# Of a question; a longer text was pasted in.
MOST_WORDS = 60
MOST_CHARACTERS = 1_000
MOST_CONSTRAINTS = 20  # of either kind
LONGEST_EXCLUSION = 200  # characters


@dataclass(frozen=True, slots=True)
class Constraints:
    """Words to leave out, and ranges of years, all of which hold.

    A paper that they do not allow loses a part of its score; with `strict_time` the years are a filter.
    `contradicting` years, which no year satisfies together, have no effect.
    """

    exclusions: tuple[Exclusion, ...] = ()
    years: tuple[YearRange, ...] = ()
    strict_time: bool = False
    contradicting: tuple[YearRange, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any constraint."""
        return bool(self.exclusions or self.years or self.strict_time)

    def places(self) -> list[tuple[int, int]]:
        """Return the places of the constraints in the question, in its order; none overlap."""
        merged: list[tuple[int, int]] = []
        spans = [(exclusion.start, exclusion.end) for exclusion in self.exclusions]
        spans += [(years.start, years.end) for years in self.years]
        for start, end in sorted(spans):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            elif end:
                merged.append((start, end))
        return merged

    def year_range(self) -> Range | None:
        """Return the years that are in all ranges; None without ranges."""
        if not self.years:
            return None
        firsts = [years.first for years in self.years if years.first is not None]
        lasts = [years.last for years in self.years if years.last is not None]
        return Range(max(firsts, default=None), min(lasts, default=None))

    def excluding(self, *texts: str) -> Self:
        """Return the constraints with more words to leave out."""
        composed = [unicodedata.normalize("NFC", text.strip()) for text in texts]
        return replace(self, exclusions=(*self.exclusions, *(Exclusion(text) for text in composed if text)))

    def elsewhere(self) -> Self:
        """Return the constraints for another text, in which they have no place."""
        return replace(
            self,
            exclusions=tuple(replace(exclusion, start=0, end=0) for exclusion in self.exclusions),
            years=tuple(replace(years, start=0, end=0) for years in self.years),
        )

    def remaining(self, text: str) -> str:
        """Return a composed question without operators, words to leave out and years."""
        for start, end in reversed(self.places()):
            behind = re.sub(r'\A["”\]]?[ )]*', "", text[end:])
            text = f"{text[:start].rstrip(' ,(')} {behind}"
        return re.sub(r"\s+", " ", text).strip()

    def notes(self) -> tuple[str, ...]:
        """Return the notes on the constraints that do not depend on the hits."""
        notes = [
            f"nothing is excluded by {exclusion.text}: the question asks for it, or it has no words"
            for exclusion in self.exclusions
            if not exclusion.tokens
        ]
        if years := self.year_range():
            kind = "only, papers without a year left out" if self.strict_time else "preferred"
            notes.append(f"years {years.low or ''}–{years.high or ''} {kind}")
        elif self.contradicting:
            texts = ", ".join(years.text for years in self.contradicting)
            notes.append(f"years that contradict each other were left out: {texts}")
        elif self.strict_time:
            notes.append("the question has no years")
        return tuple(notes)

    def outcome(self, hits: int, about: int, mentioning: int) -> tuple[str, ...]:
        """Return the notes with the numbers of shown hits that are about an excluded thing or mention it."""
        excluded = ", ".join(exclusion.text for exclusion in self.exclusions if exclusion.tokens)
        if not excluded or not hits:
            return ()
        counted = f"{about} of {hits}" if about else f"none of the {hits}"
        still = "are still" if about > 1 else "is still" if about else "is"
        note = f"papers about {excluded} are ranked lower; {counted} hits {still} about {excluded}"
        mention = "mention" if mentioning > 1 else "mentions"
        return (note, f"{mentioning} of {hits} hits {mention} {excluded}") if mentioning else (note,)

    def excluded_by(self, writing: Writing) -> bool:
        """Check whether a text names anything excluded."""
        return any(exclusion.mentions(writing) for exclusion in self.exclusions)


class ExclusionRecord(TypedDict):
    """Words that the question excludes, and their position in it."""

    text: str
    operator: str
    start: int
    end: int
    tokens: list[str]


class ConstraintsRecord(TypedDict):
    """Constraints on papers found in a question."""

    exclusions: list[ExclusionRecord]
    years: tuple[YearRange, ...]
    strict_time: Annotated[bool, Field(description="whether papers of other years were left out")]


def _shown(constraints: Constraints) -> ConstraintsRecord:
    """Return the constraints without the names that the index's analysis adds."""
    return {
        "exclusions": [
            {
                "text": exclusion.text,
                "operator": exclusion.operator,
                "start": exclusion.start,
                "end": exclusion.end,
                "tokens": list(exclusion.tokens),
            }
            for exclusion in constraints.exclusions
        ],
        "years": constraints.years,
        "strict_time": constraints.strict_time,
    }


ShownConstraints = Annotated[Constraints, PlainSerializer(_shown)]


def chosen_constraints(
    question: str,
    settings: RetrieverSettings,
    *,
    exclude: Sequence[str] = (),
    strict_time: bool = False,
    found: bool = True,
) -> Constraints | None:
    """Return the constraints made by a caller's options; None if the question alone decides.

    With `found` the constraints of the question are kept, unless the settings drop them.
    """
    found = found and settings.constraints
    if found and not exclude and not strict_time:
        return None
    year = settings.this_year or datetime.now().astimezone().year
    constraints = find_constraints(question, year, of_papers=strict_time) if found else Constraints()
    return replace(constraints, strict_time=strict_time).excluding(*exclude)


def find_constraints(text: str, this_year: int, *, of_papers: bool = False) -> Constraints:
    """Find the constraints of a question; "the last five years" count back from `this_year`.

    Years count if they are years of publication; with `of_papers` all years are. A text of more than sixty
    words or a thousand characters was pasted in and has no constraints.
    """
    text = unicodedata.normalize("NFC", text)
    if len(text) > MOST_CHARACTERS or len(text.split()) > MOST_WORDS:
        return Constraints()
    exclusions: list[Exclusion] = []
    found = (*english_exclusions(text), *korean_exclusions(text))
    for exclusion in sorted(found, key=lambda each: (each.start, -each.end)):
        if not exclusions or exclusion.start >= exclusions[-1].end:
            exclusions.append(exclusion)
    years, exclusions = unwanted_years(
        text,
        find_years(text, this_year)[:MOST_CONSTRAINTS],
        exclusions[:MOST_CONSTRAINTS],
        of_papers=of_papers,
    )
    exclusions = [exclusion for exclusion in exclusions if not ONLY_PAPERS.fullmatch(exclusion.text)]
    if are_compared(years, this_year):
        contradict = len(years) > 1 or years[0].last is not None  # one range alone runs backwards
        return Constraints(tuple(exclusions), contradicting=tuple(years) if contradict else ())
    return Constraints(tuple(exclusions), tuple(years))
