"""A text parsed once, for all signs that compare it."""

from dataclasses import dataclass
from functools import cached_property

from generator.checking.numbers.bounds import Bound, Limit, bounds, limits
from generator.checking.numbers.changes import (
    DirectedQuantity,
    Extent,
    FromTo,
    changes,
    directed_quantities,
    extents,
)
from generator.checking.numbers.labels import LabelledQuantity, phrase_labels, sentence_labels
from generator.checking.numbers.missing import Difference, Multiples, differences_of, multiples_of
from generator.checking.numbers.orders import Superlative, superlatives
from generator.checking.numbers.subjects import Count, counts
from generator.checking.statements.comparisons import Baseline, Comparison, baselines, comparisons
from generator.checking.statements.directions import Direction, directions
from generator.checking.statements.effects import EffectStatement, effect_statements
from generator.checking.statements.negations import Statement, negated_terms, statements
from generator.checking.statements.roles import Action, actions
from generator.checking.statements.themes import Theme, themes
from generator.checking.text.clauses import Text, read_text
from generator.checking.text.matching import Translation, translations_of
from indexer.analysis.tokens import Analyzer
from indexer.glossary.storage import Glossary


@dataclass(frozen=True)
class ParsedText:
    """A text with everything that the signs compare, each part computed when it is first needed."""

    text: Text
    glossary: Glossary

    @cached_property
    def translations(self) -> frozenset[Translation]:
        """Translations of its terms in the glossary."""
        return translations_of(self.text, self.glossary)

    @cached_property
    def directions(self) -> list[Direction]:
        """Words of direction: rose, lower."""
        return directions(self.text)

    @cached_property
    def themes(self) -> list[Theme]:
        """Words of direction with the words for what they change."""
        return list(themes(self.text, self.directions))

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Comparisons with both sides: A is higher than B."""
        return list(comparisons(self.text, self.directions))

    @cached_property
    def baselines(self) -> list[Baseline]:
        """Words beside the start of a change: A in "from 9 in A to 5"."""
        return list(baselines(self.text, self.changes, self.directions))

    @cached_property
    def actions(self) -> list[Action]:
        """Verbs with actor and object."""
        return list(actions(self.text))

    @cached_property
    def statements(self) -> list[Statement]:
        """Clauses with the words that they negate."""
        return list(statements(self.text))

    @cached_property
    def negated_terms(self) -> set[str]:
        """Terms that occur only after "no" or "without"."""
        return negated_terms(self.text)

    @cached_property
    def effects(self) -> list[EffectStatement]:
        """Clauses that report an effect, or that there is none."""
        return list(effect_statements(self.text, self.directions))

    @cached_property
    def sentence_labels(self) -> list[LabelledQuantity]:
        """Numbers with the words of their part of the sentence."""
        return sentence_labels(self.text)

    @cached_property
    def phrase_labels(self) -> list[LabelledQuantity]:
        """Numbers with the words between the commas and connectives around them."""
        return phrase_labels(self.text)

    @cached_property
    def counts(self) -> list[Count]:
        """Counts with the words for the counted things."""
        return list(counts(self.text))

    @cached_property
    def bounds(self) -> list[Bound]:
        """Least and greatest numbers: at least 5."""
        return list(bounds(self.text))

    @cached_property
    def limits(self) -> list[Limit]:
        """Numbers that limit a range: above 5."""
        return list(limits(self.text))

    @cached_property
    def changes(self) -> list[FromTo]:
        """Changes with both numbers: from 9 to 5."""
        return list(changes(self.text))

    @cached_property
    def extents(self) -> list[Extent]:
        """Amounts and ends of changes: by 4, to 5."""
        return list(extents(self.text, self.directions))

    @cached_property
    def directed_quantities(self) -> list[DirectedQuantity]:
        """Numbers with their word of direction: 5 g lower."""
        return list(directed_quantities(self.text, self.directions))

    @cached_property
    def superlatives(self) -> list[Superlative]:
        """Superlatives: highest, 가장 낮다."""
        return list(superlatives(self.text))

    @cached_property
    def multiples(self) -> dict[int, Multiples]:
        """Multiples, shares and ratios by sentence number."""
        return multiples_of(self.text)

    @cached_property
    def differences(self) -> frozenset[Difference]:
        """Differences of two numbers of a sentence."""
        return differences_of(self.text)


def parse_text(text: str, analyzer: Analyzer, glossary: Glossary) -> ParsedText:
    """Parse a composed (NFC) text."""
    return ParsedText(read_text(text, analyzer), glossary)
