"""A text read once, for all signs by which it is compared."""

from dataclasses import dataclass
from functools import cached_property

from generator.checking.baselines import Baseline, baselines
from generator.checking.clauses import Text, Translation, read_text, translations_of
from generator.checking.denials import Statement, statements
from generator.checking.denied_terms import denied_terms
from generator.checking.exchanged_roles import Action, Comparison, actions, comparisons
from generator.checking.findings import Found, findings
from generator.checking.numbers.belonging import Placed, placed
from generator.checking.numbers.bounds import Bound, bounds, ranges
from generator.checking.numbers.by_and_to import Extent, extents
from generator.checking.numbers.counted import Count, counts
from generator.checking.numbers.directions import Change, directed
from generator.checking.numbers.exchanged import Labelled, labelled
from generator.checking.numbers.multiples import Difference, Multiples, differences_of, multiples_of
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import Direction, directions
from generator.checking.ranks import Rank, ranks
from generator.checking.reversed_changes import changes
from generator.checking.themes import Theme, themes
from indexer.analysis.tokens import Analyzer
from indexer.glossary.storage import Glossary


@dataclass(frozen=True)
class Reading:
    """A text with what its signs are: quantities and their places, changes, directions, what is denied."""

    text: Text
    places: tuple[Placed, ...]
    labelled: tuple[Labelled, ...]
    changes: tuple[tuple[Quantity, Quantity], ...]
    directed: tuple[Change, ...]
    directions: tuple[Direction, ...]
    statements: tuple[Statement, ...]
    extents: tuple[Extent, ...]
    bounds: tuple[Bound, ...]
    ranges: tuple[tuple[Quantity, int], ...]
    baselines: tuple[Baseline, ...]
    comparisons: tuple[Comparison, ...]
    actions: tuple[Action, ...]
    themes: tuple[Theme, ...]
    findings: tuple[Found, ...]
    ranks: tuple[Rank, ...]
    counts: tuple[Count, ...]
    glossary: Glossary

    @cached_property
    def translations(self) -> frozenset[Translation]:
        """The glossary's translations of the text's terms, looked up where languages differ."""
        return translations_of(self.text, self.glossary)

    @cached_property
    def denied_terms(self) -> set[str]:
        """The words that the text has only where it denies them."""
        return denied_terms(self.text)

    @cached_property
    def multiples(self) -> dict[int, Multiples]:
        """What the text says of multiples, by the number of the sentence."""
        return multiples_of(self.text)

    @cached_property
    def differences(self) -> frozenset[Difference]:
        """The differences of the numbers of a sentence."""
        return differences_of(self.text)


def read(text: str, analyzer: Analyzer, glossary: Glossary) -> Reading:
    """Read a composed (NFC) text."""
    parts = read_text(text, analyzer)
    said, changed = tuple(directions(parts)), tuple(changes(parts))
    return Reading(
        parts,
        tuple(placed(parts)),
        tuple(labelled(parts)),
        changed,
        tuple(directed(parts, said)),
        said,
        tuple(statements(parts)),
        tuple(extents(parts, said)),
        tuple(bounds(parts)),
        tuple(ranges(parts)),
        tuple(baselines(parts, changed, said)),
        tuple(comparisons(parts, said)),
        tuple(actions(parts)),
        tuple(themes(parts, said)),
        tuple(findings(parts, said)),
        tuple(ranks(parts)),
        tuple(counts(parts)),
        glossary,
    )
