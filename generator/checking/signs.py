"""The signs that speak against a sentence, each with the function that finds its words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Literal

from generator.checking.baselines import better_baselines
from generator.checking.clauses import Bridge, Text, nearest_sentences
from generator.checking.denials import denials
from generator.checking.denied_terms import stated_terms
from generator.checking.exchanged_roles import exchanged_roles, exchanged_sides
from generator.checking.findings import false_findings, missed_findings
from generator.checking.lone_clauses import lone_clauses
from generator.checking.names import same_name
from generator.checking.negating_prefixes import turned_prefixes
from generator.checking.numbers.belonging import MOST_QUANTITIES, of_another
from generator.checking.numbers.bounds import borrowed_sides, other_bounds, other_sides
from generator.checking.numbers.by_and_to import confused_extents
from generator.checking.numbers.counted import exchanged_counts
from generator.checking.numbers.counters import counted_otherwise
from generator.checking.numbers.directions import turned_changes
from generator.checking.numbers.exchanged import Labelled, exchanged_numbers, lent_numbers
from generator.checking.numbers.labels import of_other_conditions, of_other_labels, turned_labels
from generator.checking.numbers.multiples import (
    NEAR_A_MULTIPLE,
    Multiples,
    is_difference,
    is_more_by,
    is_said,
    is_share_of_counts,
    joined,
)
from generator.checking.numbers.numerals import TIMES
from generator.checking.numbers.orders import wrong_orders, wrong_ranks
from generator.checking.numbers.quantities import Quantity, spans_years
from generator.checking.opposites import contradictions
from generator.checking.ranks import other_ranks
from generator.checking.reading import Reading
from generator.checking.replaced_actors import replaced_actors
from generator.checking.reversed_changes import begun_at_end, reversed_changes
from generator.checking.rivals import rival_terms
from generator.checking.subjects import missing_terms, names_elsewhere, replaced_words, rival_names
from generator.checking.substances import drugs, substances
from generator.checking.themes import about_others, contrary_themes, outdone_by_standard
from generator.checking.universals import unsaid_universals
from indexer.analysis.tokens import Token

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


@dataclass(frozen=True)
class Compared:
    """A sentence with the sources that it cites; `across`: none is in its language."""

    own: Reading
    sources: tuple[Reading, ...]
    held: set[str]  # terms of the sources
    bridge: Bridge
    across: bool

    @property
    def texts(self) -> list[Text]:
        """The texts of the sources."""
        return [source.text for source in self.sources]

    @property
    def counted(self) -> list[Quantity]:
        """The numbers of the sources."""
        return [quantity for text in self.texts for quantity in text.quantities]

    @property
    def labelled(self) -> list[tuple[Text, tuple[Labelled, ...]]]:
        """The numbers of each source with their labels."""
        return [(source.text, source.labelled) for source in self.sources]

    @cached_property
    def missing_numbers(self) -> tuple[tuple[Quantity, bool], ...]:
        """The numbers that no source has, each with whether one has it with another unit."""
        return tuple(_missing_numbers(self))


def _missing_numbers(it: Compared) -> Iterator[tuple[Quantity, bool]]:
    text = it.own.text
    multiples_near = cache(partial(_multiples_near, it))
    said = [quantity for source in it.texts for quantity in source.quantities]
    for quantity in text.quantities:
        if not quantity.demanded:
            continue
        if quantity.multiple:
            tokens = () if it.across else text.tokens_around(quantity.start)
            found = is_said(quantity, text.text, multiples_near(tokens))
        else:
            found = any(quantity.same_as(other) for other in said) or spans_years(quantity, said)
            found = found or is_difference(quantity, text.text, (source.differences for source in it.sources))
            if not found and quantity.unit == TIMES:
                found = is_said(
                    quantity,
                    text.text,
                    multiples_near(() if it.across else text.tokens_around(quantity.start)),
                )
            found = found or any(is_more_by(quantity, other) for other in said)
            found = found or is_share_of_counts(quantity, (source.text for source in it.texts))
        if not found:
            same = any(quantity.value == other.value for other in said)
            yield quantity, same and not quantity.multiple


def _multiples_near(it: Compared, tokens: tuple[Token, ...]) -> Multiples:
    """Return the multiples of the sources' sentences about a clause; across languages of all sentences."""
    if it.across:
        return joined([each for source in it.sources for each in source.multiples.values()])
    near = zip(it.sources, nearest_sentences(it.texts, tokens, it.bridge, NEAR_A_MULTIPLE), strict=True)
    return joined(
        [
            source.multiples[number]
            for source, numbers in near
            for number in numbers
            if number in source.multiples
        ]
    )


def _numbers(it: Compared) -> Iterator[str]:
    return (quantity.shown or quantity.text for quantity, same in it.missing_numbers if not same)


def _units(it: Compared) -> Iterator[str]:
    yield from (quantity.text for quantity, same in it.missing_numbers if same)
    yield from counted_otherwise(it.own.text.quantities, it.texts)


def _other_numbers(it: Compared) -> Iterator[str]:
    own, bridge = it.own, it.bridge
    said = [bound for source in it.sources for bound in source.bounds]
    sides = [side for source in it.sources for side in source.ranges]
    counts = [count for source in it.sources for count in source.counts]
    yield from map(_pair, other_bounds(own.bounds, said, bridge))
    yield from other_sides(own.ranges, sides, it.counted)
    yield from map(_pair, borrowed_sides(own.ranges, sides, it.counted))
    if not it.across:
        yield from map(_pair, exchanged_counts(own.counts, counts, bridge))
    # A source with too many numbers may give them to the right words: then nothing is said of the others.
    if any(len(each.text.quantities) > MOST_QUANTITIES for each in (own, *it.sources)):
        return
    places = [source.places for source in it.sources]
    yield from map(_pair, of_another(own.places, places, own.text.quantities, bridge, across=it.across))
    yield from map(_pair, _other_labels(it))
    if it.across:
        yield from missing_terms(own.labelled, it.held, bridge)
    else:
        yield from map(_pair, lent_numbers(own.text, own.labelled, it.labelled, bridge))
        yield from map(_pair, replaced_words(own.text, it.texts))
    yield from map(_pair, names_elsewhere(own.text, own.labelled, it.labelled, same_name))
    named = drugs if it.across else substances
    yield from map(_pair, rival_names(own.text, own.labelled, it.labelled, same_name, named))


def _other_labels(it: Compared) -> Iterator[tuple[str, str]]:
    own, labelled = it.own, it.labelled
    known = None
    if it.across:
        known = {word for source in it.sources for words, _ in source.translations for word in words}
    yield from of_other_labels(own.labelled, labelled, own.text.quantities, known, it.bridge)
    yield from of_other_conditions(own.text, own.labelled, labelled)
    changed = [each for change in own.changes for each in change]
    yield from turned_labels(own.text, own.labelled, labelled, changed)


def _exchanged(it: Compared) -> Iterator[str]:
    for pair in exchanged_numbers(it.own.labelled, [source.labelled for source in it.sources], it.bridge):
        yield _pair(pair)
    compared = [comparison for source in it.sources for comparison in source.comparisons]
    for pair in exchanged_sides(it.own.comparisons, compared, it.bridge):
        yield _pair(pair)
    baselines = [baseline for source in it.sources for baseline in source.baselines]
    for pair in better_baselines(it.own.comparisons, baselines, compared, it.held, it.bridge):
        yield _pair(pair)
    changed = [change for source in it.sources for change in source.directed]
    for pair in wrong_orders(
        it.own.comparisons,
        it.own.text.quantities,
        [(source.text, source.labelled) for source in it.sources],
        changed,
        it.bridge,
    ):
        yield _pair(pair)
    yield from exchanged_roles(it.own.actions, [each for source in it.sources for each in source.actions])
    if not it.across:
        yield from replaced_actors(it.own.text, it.texts, it.bridge)


def _turned(it: Compared) -> Iterator[str]:
    yield from reversed_changes(it.own.changes, [each for source in it.sources for each in source.changes])
    ends = [each.quantity for each in it.own.extents if each.to]
    changed = [each for source in it.sources for each in source.changes]
    yield from begun_at_end(ends, it.own.changes, changed, it.counted)
    said = [each for source in it.sources for each in source.extents]
    differences = [source.differences for source in it.sources]
    multiples = joined([each for source in it.sources for each in source.multiples.values()])
    for pair in confused_extents(it.own.extents, said, it.own.text.text, differences, multiples):
        yield _pair(pair)


def _opposites(it: Compared) -> Iterator[str]:
    said = [(source.text, source.directions) for source in it.sources]
    themes = [theme for source in it.sources for theme in source.themes]
    others = about_others(it.own.themes, themes, it.bridge)
    yield from map(_pair, contradictions(it.own.text, it.own.directions, said, it.bridge, others))
    yield from map(_pair, outdone_by_standard(it.own.themes, themes, it.bridge))
    for pair in contrary_themes(
        it.own.themes, [each for source in it.sources for each in source.themes], it.bridge
    ):
        yield _pair(pair)
    ranked = [rank for source in it.sources for rank in source.ranks]
    yield from map(_pair, other_ranks(it.own.ranks, ranked, it.counted, it.bridge))
    yield from map(_pair, wrong_ranks(it.own.ranks, it.labelled, it.own.text.quantities, it.bridge))
    yield from map(_pair, rival_terms(it.own.text, it.texts, it.bridge))
    if not it.across:
        for pair in turned_prefixes(it.own.text, it.texts):
            yield _pair(pair)
    for pair in turned_changes(it.own.directed, [source.directed for source in it.sources], it.bridge):
        yield _pair(pair)


def _denied(it: Compared) -> Iterator[str]:
    said = [statement for source in it.sources for statement in source.statements]
    yield from (word for word, _ in denials(it.own.statements, said, it.bridge))
    found = [source.findings for source in it.sources]
    yield from (words for words, _ in false_findings(it.own.findings, found, it.bridge))
    yield from (words for words, _ in missed_findings(it.own.findings, found, it.bridge))
    yield from stated_terms(it.own.text, [source.denied_terms for source in it.sources], it.held, it.bridge)


def _universals(it: Compared) -> Iterator[str]:
    return unsaid_universals(it.own.text, it.texts, it.bridge, across=it.across)


def _clauses(it: Compared) -> Iterator[str]:
    return lone_clauses(it.own.text, it.held, it.bridge, across=it.across)


def _pair(words: tuple[str, str]) -> str:
    return " / ".join(words)


SIGNS: tuple[tuple[Sign, Callable[[Compared], Iterator[str]]], ...] = (
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
