"""What a question says about the papers it wants: words to leave out, and years."""

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from retriever.english_exclusions import english_exclusions
from retriever.excluded_years import unwanted_years
from retriever.exclusions import Exclusion
from retriever.korean_exclusions import korean_exclusions
from retriever.queries import Range
from retriever.settings import RetrieverSettings
from retriever.years import YearRange, are_compared, find_years

# Of a text that asks for something; a longer one was pasted in.
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
        """Tell whether anything is asked for."""
        return bool(self.exclusions or self.years or self.strict_time)

    def places(self) -> list[tuple[int, int]]:
        """Return where the constraints stand in the question, in its order; none overlap."""
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
        """Return the years that all ranges hold; None where none is asked for."""
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

    def describe(self) -> str:
        """Say the analysed constraints in words; nothing where there are none."""
        excluded = ", ".join(exclusion.text for exclusion in self.exclusions if exclusion.tokens)
        idle = ", ".join(exclusion.text for exclusion in self.exclusions if not exclusion.tokens)
        parts = [f"excluded, and ranked lower: {excluded}"] if excluded else []
        if idle:
            parts.append(f"nothing is excluded by {idle}: the question asks for it, or it has no words")
        if years := self.year_range():
            kind = "only, papers without a year left out" if self.strict_time else "preferred"
            parts.append(f"years {years.low or ''}–{years.high or ''} {kind}")
        elif self.contradicting:
            texts = ", ".join(years.text for years in self.contradicting)
            parts.append(f"years that contradict each other were left out: {texts}")
        elif self.strict_time:
            parts.append("no years are asked for")
        return "; ".join(parts)

    def excluded_by(self, words: AbstractSet[str]) -> bool:
        """Tell whether words hold anything that is to be left out, whole."""
        return any(exclusion.is_held(words) for exclusion in self.exclusions)

    def as_record(self) -> dict[str, Any]:
        """Return the constraints as JSON."""
        return {
            "exclusions": [
                {
                    "text": exclusion.text,
                    "operator": exclusion.operator,
                    "start": exclusion.start,
                    "end": exclusion.end,
                    "tokens": list(exclusion.tokens),
                }
                for exclusion in self.exclusions
            ],
            "years": [
                {
                    "first": years.first,
                    "last": years.last,
                    "text": years.text,
                    "start": years.start,
                    "end": years.end,
                }
                for years in self.years
            ],
            "strict_time": self.strict_time,
        }


def chosen_constraints(
    question: str,
    settings: RetrieverSettings,
    *,
    exclude: Sequence[str] = (),
    strict_time: bool = False,
    found: bool = True,
) -> Constraints | None:
    """Return the constraints that a caller's options make; None leaves them to the question alone.

    With `found` those of the question are kept, unless the settings drop them.
    """
    found = found and settings.constraints
    if found and not exclude and not strict_time:
        return None
    year = settings.this_year or datetime.now().astimezone().year
    constraints = find_constraints(question, year) if found else Constraints()
    return replace(constraints, strict_time=strict_time).excluding(*exclude)


def find_constraints(text: str, this_year: int) -> Constraints:
    """Find the constraints of a question; "the last five years" count back from `this_year`.

    A text of more than sixty words or a thousand characters is one that was pasted in, and asks for nothing.
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
        text, find_years(text, this_year)[:MOST_CONSTRAINTS], exclusions[:MOST_CONSTRAINTS]
    )
    if are_compared(years, this_year):
        contradict = len(years) > 1 or years[0].last is not None  # one alone: it is told backwards
        return Constraints(tuple(exclusions), contradicting=tuple(years) if contradict else ())
    return Constraints(tuple(exclusions), tuple(years))
