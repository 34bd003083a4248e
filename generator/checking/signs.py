"""Table of the signs against a claim, each with the function that yields the words concerned."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, TypeVar

from generator.checking.numbers.bounds import other_bounds, other_limits, reversed_limits
from generator.checking.numbers.changes import (
    confused_extents,
    contrary_directions,
    reversed_changes,
    starts_as_ends,
)
from generator.checking.numbers.conditions import negated_labels, other_conditions, other_labels
from generator.checking.numbers.exchanged import (
    exchanged_numbers,
    misplaced_numbers,
    numbers_of_other_sentences,
)
from generator.checking.numbers.labels import MOST_QUANTITIES, Labels
from generator.checking.numbers.missing import join, missing_numbers
from generator.checking.numbers.orders import contrary_superlatives, wrong_orders, wrong_superlatives
from generator.checking.numbers.subjects import (
    exchanged_counts,
    measured_counts,
    missing_terms,
    names_elsewhere,
    replaced_names,
)
from generator.checking.parsing import ParsedText
from generator.checking.statements.comparisons import exchanged_comparisons, inverted_baselines
from generator.checking.statements.coverage import uncovered_clauses, unsupported_universals
from generator.checking.statements.effects import denied_effects, invented_effects
from generator.checking.statements.names import same_name
from generator.checking.statements.negations import affirmed_terms, contradicted_negations
from generator.checking.statements.opposites import contradictions
from generator.checking.statements.replaced_terms import (
    changed_prefixes,
    replaced_exclusive_terms,
    replaced_words,
)
from generator.checking.statements.roles import exchanged_roles, replaced_actors
from generator.checking.statements.substances import drugs, substances
from generator.checking.statements.themes import contrary_themes, outdone_by_standard, unrelated_directions
from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity

Sign = Literal[
    "citation",
    "number",
    "unit",
    "name",
    "other number",
    "turned",
    "exchanged",
    "opposite",
    "denied",
    "universal",
    "clause",
    "words",
    "judge",
]
Part = TypeVar("Part")


@dataclass(frozen=True)
class CitedClaim:
    """A claim and the passages that it cites; `cross_lingual`: no passage is in the claim's language."""

    claim: ParsedText
    passages: tuple[ParsedText, ...]
    passage_terms: set[str]
    matcher: TermMatcher
    cross_lingual: bool

    def all(self, part: Callable[[ParsedText], Iterable[Part]]) -> list[Part]:
        """Return a part of all passages in one list."""
        return list(chain.from_iterable(map(part, self.passages)))

    @property
    def texts(self) -> list[Text]:
        """The texts of the passages."""
        return [passage.text for passage in self.passages]

    @property
    def quantities(self) -> list[Quantity]:
        """The numbers of the passages."""
        return self.all(lambda passage: passage.text.quantities)

    @property
    def labels(self) -> list[Labels]:
        """The labelled numbers of each passage."""
        return [passage.sentence_labels for passage in self.passages]

    @cached_property
    def missing_numbers(self) -> list[tuple[Quantity, bool]]:
        """The missing numbers; True if a passage has the number with another unit."""
        found = missing_numbers(
            self.claim.text, self.passages, self.matcher, cross_lingual=self.cross_lingual
        )
        return list(found)


def _numbers(cited: CitedClaim) -> Iterator[str]:
    return (
        quantity.shown or quantity.text for quantity, other_unit in cited.missing_numbers if not other_unit
    )


def _units(cited: CitedClaim) -> Iterator[str]:
    yield from (quantity.text for quantity, other_unit in cited.missing_numbers if other_unit)
    yield from measured_counts(cited.claim.text.quantities, cited.texts)


def _other_numbers(cited: CitedClaim) -> Iterator[str]:
    claim, matcher, labels = cited.claim, cited.matcher, cited.labels
    own_labels, quantities = claim.sentence_labels, claim.text.quantities
    limits = cited.all(lambda passage: passage.limits)
    yield from _pairs(other_bounds(claim.bounds, cited.all(lambda passage: passage.bounds), matcher))
    yield from reversed_limits(claim.limits, limits, cited.quantities)
    yield from _pairs(other_limits(claim.limits, limits, cited.quantities))
    if not cited.cross_lingual:
        yield from _pairs(exchanged_counts(claim.counts, cited.all(lambda passage: passage.counts), matcher))
    # In a table of too many numbers the words beside a number are unknown.
    if any(len(each.text.quantities) > MOST_QUANTITIES for each in (claim, *cited.passages)):
        return
    phrase_labels = [passage.phrase_labels for passage in cited.passages]
    yield from _pairs(
        misplaced_numbers(
            claim.phrase_labels, phrase_labels, quantities, matcher, cross_lingual=cited.cross_lingual
        )
    )
    translated = None
    if cited.cross_lingual:
        translated = {
            word for passage in cited.passages for words, _ in passage.translations for word in words
        }
    yield from _pairs(other_labels(own_labels, labels, quantities, translated, matcher))
    yield from _pairs(other_conditions(own_labels, labels, cited.quantities))
    changed = list(chain.from_iterable(claim.changes))
    yield from _pairs(negated_labels(own_labels, labels, changed))
    if cited.cross_lingual:
        yield from missing_terms(own_labels, cited.passage_terms, matcher)
    else:
        yield from _pairs(numbers_of_other_sentences(claim.text, own_labels, labels, matcher))
        yield from _pairs(replaced_words(claim.text, cited.texts))
    yield from _pairs(names_elsewhere(claim.text, own_labels, labels, cited.texts, same_name))
    named = drugs if cited.cross_lingual else substances
    yield from _pairs(replaced_names(own_labels, labels, same_name, named))


def _exchanged(cited: CitedClaim) -> Iterator[str]:
    claim, matcher = cited.claim, cited.matcher
    yield from _pairs(exchanged_numbers(claim.sentence_labels, cited.labels, matcher))
    comparisons = cited.all(lambda passage: passage.comparisons)
    yield from _pairs(exchanged_comparisons(claim.comparisons, comparisons, matcher))
    baselines = cited.all(lambda passage: passage.baselines)
    yield from _pairs(
        inverted_baselines(claim.comparisons, baselines, comparisons, cited.passage_terms, matcher)
    )
    directed = cited.all(lambda passage: passage.directed_quantities)
    yield from _pairs(wrong_orders(claim.comparisons, claim.text.quantities, cited.labels, directed, matcher))
    yield from exchanged_roles(claim.actions, cited.all(lambda passage: passage.actions))
    if not cited.cross_lingual:
        yield from replaced_actors(claim.text, cited.texts, matcher)


def _turned(cited: CitedClaim) -> Iterator[str]:
    claim, changes = cited.claim, cited.all(lambda passage: passage.changes)
    yield from reversed_changes(claim.changes, changes)
    ends = [extent.quantity for extent in claim.extents if extent.is_end]
    yield from starts_as_ends(ends, claim.changes, changes, cited.quantities)
    differences = [passage.differences for passage in cited.passages]
    multiples = join(cited.all(lambda passage: passage.multiples.values()))
    extents = cited.all(lambda passage: passage.extents)
    yield from _pairs(confused_extents(claim.extents, extents, claim.text.text, differences, multiples))


def _opposites(cited: CitedClaim) -> Iterator[str]:
    claim, matcher = cited.claim, cited.matcher
    themes = cited.all(lambda passage: passage.themes)
    unrelated = unrelated_directions(claim.themes, themes, matcher)
    directions = [(passage.text, passage.directions) for passage in cited.passages]
    yield from _pairs(contradictions(claim.text, claim.directions, directions, matcher, unrelated))
    yield from _pairs(outdone_by_standard(claim.themes, themes, matcher))
    yield from _pairs(contrary_themes(claim.themes, themes, matcher))
    superlatives = cited.all(lambda passage: passage.superlatives)
    yield from _pairs(contrary_superlatives(claim.superlatives, superlatives, cited.quantities, matcher))
    yield from _pairs(wrong_superlatives(claim.superlatives, cited.labels, claim.text.quantities, matcher))
    yield from _pairs(replaced_exclusive_terms(claim.text, cited.texts, matcher))
    if not cited.cross_lingual:
        yield from _pairs(changed_prefixes(claim.text, cited.texts))
    directed = cited.all(lambda passage: passage.directed_quantities)
    yield from _pairs(contrary_directions(claim.directed_quantities, directed, matcher))


def _denied(cited: CitedClaim) -> Iterator[str]:
    claim, matcher = cited.claim, cited.matcher
    yield from contradicted_negations(
        claim.statements, cited.all(lambda passage: passage.statements), matcher
    )
    effects = [passage.effects for passage in cited.passages]
    yield from invented_effects(claim.effects, effects, matcher)
    yield from denied_effects(claim.effects, effects, matcher)
    negated = [passage.negated_terms for passage in cited.passages]
    yield from affirmed_terms(claim.text, negated, cited.passage_terms, matcher)


def _universals(cited: CitedClaim) -> Iterator[str]:
    return unsupported_universals(
        cited.claim.text, cited.texts, cited.matcher, cross_lingual=cited.cross_lingual
    )


def _clauses(cited: CitedClaim) -> Iterator[str]:
    return uncovered_clauses(
        cited.claim.text, cited.passage_terms, cited.matcher, cross_lingual=cited.cross_lingual
    )


def _pairs(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    return map(" / ".join, found)


SIGNS: tuple[tuple[Sign, Callable[[CitedClaim], Iterator[str]]], ...] = (
    ("number", _numbers),
    ("unit", _units),
    ("other number", _other_numbers),
    ("exchanged", _exchanged),
    ("turned", _turned),
    ("opposite", _opposites),
    ("denied", _denied),
    ("universal", _universals),
    ("clause", _clauses),
)
