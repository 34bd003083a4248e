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


def _numbers(it: CitedClaim) -> Iterator[str]:
    return (quantity.shown or quantity.text for quantity, other_unit in it.missing_numbers if not other_unit)


def _units(it: CitedClaim) -> Iterator[str]:
    yield from (quantity.text for quantity, other_unit in it.missing_numbers if other_unit)
    yield from measured_counts(it.claim.text.quantities, it.texts)


def _other_numbers(it: CitedClaim) -> Iterator[str]:
    claim, matcher, labels = it.claim, it.matcher, it.labels
    own_labels, quantities = claim.sentence_labels, claim.text.quantities
    limits = it.all(lambda passage: passage.limits)
    yield from _pairs(other_bounds(claim.bounds, it.all(lambda passage: passage.bounds), matcher))
    yield from reversed_limits(claim.limits, limits, it.quantities)
    yield from _pairs(other_limits(claim.limits, limits, it.quantities))
    if not it.cross_lingual:
        yield from _pairs(exchanged_counts(claim.counts, it.all(lambda passage: passage.counts), matcher))
    # In a table of too many numbers the words beside a number are unknown.
    if any(len(each.text.quantities) > MOST_QUANTITIES for each in (claim, *it.passages)):
        return
    phrase_labels = [passage.phrase_labels for passage in it.passages]
    yield from _pairs(
        misplaced_numbers(
            claim.phrase_labels, phrase_labels, quantities, matcher, cross_lingual=it.cross_lingual
        )
    )
    translated = None
    if it.cross_lingual:
        translated = {word for passage in it.passages for words, _ in passage.translations for word in words}
    yield from _pairs(other_labels(own_labels, labels, quantities, translated, matcher))
    yield from _pairs(other_conditions(own_labels, labels, it.quantities))
    changed = list(chain.from_iterable(claim.changes))
    yield from _pairs(negated_labels(own_labels, labels, changed))
    if it.cross_lingual:
        yield from missing_terms(own_labels, it.passage_terms, matcher)
    else:
        yield from _pairs(numbers_of_other_sentences(claim.text, own_labels, labels, matcher))
        yield from _pairs(replaced_words(claim.text, it.texts))
    yield from _pairs(names_elsewhere(claim.text, own_labels, labels, it.texts, same_name))
    named = drugs if it.cross_lingual else substances
    yield from _pairs(replaced_names(own_labels, labels, same_name, named))


def _exchanged(it: CitedClaim) -> Iterator[str]:
    claim, matcher = it.claim, it.matcher
    yield from _pairs(exchanged_numbers(claim.sentence_labels, it.labels, matcher))
    comparisons = it.all(lambda passage: passage.comparisons)
    yield from _pairs(exchanged_comparisons(claim.comparisons, comparisons, matcher))
    baselines = it.all(lambda passage: passage.baselines)
    yield from _pairs(
        inverted_baselines(claim.comparisons, baselines, comparisons, it.passage_terms, matcher)
    )
    directed = it.all(lambda passage: passage.directed_quantities)
    yield from _pairs(wrong_orders(claim.comparisons, claim.text.quantities, it.labels, directed, matcher))
    yield from exchanged_roles(claim.actions, it.all(lambda passage: passage.actions))
    if not it.cross_lingual:
        yield from replaced_actors(claim.text, it.texts, matcher)


def _turned(it: CitedClaim) -> Iterator[str]:
    claim, changes = it.claim, it.all(lambda passage: passage.changes)
    yield from reversed_changes(claim.changes, changes)
    ends = [extent.quantity for extent in claim.extents if extent.is_end]
    yield from starts_as_ends(ends, claim.changes, changes, it.quantities)
    differences = [passage.differences for passage in it.passages]
    multiples = join(it.all(lambda passage: passage.multiples.values()))
    extents = it.all(lambda passage: passage.extents)
    yield from _pairs(confused_extents(claim.extents, extents, claim.text.text, differences, multiples))


def _opposites(it: CitedClaim) -> Iterator[str]:
    claim, matcher = it.claim, it.matcher
    themes = it.all(lambda passage: passage.themes)
    unrelated = unrelated_directions(claim.themes, themes, matcher)
    directions = [(passage.text, passage.directions) for passage in it.passages]
    yield from _pairs(contradictions(claim.text, claim.directions, directions, matcher, unrelated))
    yield from _pairs(outdone_by_standard(claim.themes, themes, matcher))
    yield from _pairs(contrary_themes(claim.themes, themes, matcher))
    superlatives = it.all(lambda passage: passage.superlatives)
    yield from _pairs(contrary_superlatives(claim.superlatives, superlatives, it.quantities, matcher))
    yield from _pairs(wrong_superlatives(claim.superlatives, it.labels, claim.text.quantities, matcher))
    yield from _pairs(replaced_exclusive_terms(claim.text, it.texts, matcher))
    if not it.cross_lingual:
        yield from _pairs(changed_prefixes(claim.text, it.texts))
    directed = it.all(lambda passage: passage.directed_quantities)
    yield from _pairs(contrary_directions(claim.directed_quantities, directed, matcher))


def _denied(it: CitedClaim) -> Iterator[str]:
    claim, matcher = it.claim, it.matcher
    yield from contradicted_negations(claim.statements, it.all(lambda passage: passage.statements), matcher)
    effects = [passage.effects for passage in it.passages]
    yield from invented_effects(claim.effects, effects, matcher)
    yield from denied_effects(claim.effects, effects, matcher)
    negated = [passage.negated_terms for passage in it.passages]
    yield from affirmed_terms(claim.text, negated, it.passage_terms, matcher)


def _universals(it: CitedClaim) -> Iterator[str]:
    return unsupported_universals(it.claim.text, it.texts, it.matcher, cross_lingual=it.cross_lingual)


def _clauses(it: CitedClaim) -> Iterator[str]:
    return uncovered_clauses(it.claim.text, it.passage_terms, it.matcher, cross_lingual=it.cross_lingual)


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
