"""Bridges: names in the best passages that lead to other passages, and the query that searches for them.

Two searches follow bridges. The second search of `shrag` (`second_search.py`) reads names from the rows of
candidates while the order is computed. The second round of a question of several steps
(`retriever/second_round.py`) comes after any method; it also reads terms and rare nouns from the text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from base.records import INTERNAL
from retriever.queries.boolean import Term, or_query
from retriever.query_plan import NamedQuery

Tokens = tuple[str, ...]  # of a name, a term or a noun


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that one passage contains and that a second search used to find another."""

    tokens: Annotated[Tokens, INTERNAL]
    passage_id: str
    strength: Annotated[float, INTERNAL]  # the source's
    idf: Annotated[Mapping[str, float], INTERNAL]  # of its tokens
    text: str = ""  # as the source writes it


@dataclass(frozen=True, slots=True)
class BridgePolicy:
    """Limits and weight of a search by bridges.

    Args:
        sources: number of best passages whose names are bridges.
        bridges: maximum number of bridges in a query.
        weight: of each token of a bridge; the uncovered words of the question have their own weights.
        hits: number of hits of a query.
    """

    sources: int
    bridges: int
    weight: float
    hits: int

    def choose(self, rarities: Mapping[Tokens, float]) -> list[Tokens]:
        """Return at most `bridges` bridges the rarest first; ties break by the tokens."""
        return sorted(rarities, key=lambda tokens: (-rarities[tokens], tokens))[: self.bridges]

    def query(
        self, name: str, bridges: Iterable[Tokens], uncovered: Mapping[str, float], title_weight: float
    ) -> NamedQuery:
        """Return the OR of the bridges' tokens and the uncovered words of the question.

        Args:
            name: of the query.
            bridges: tokens of each bridge.
            uncovered: weights of the question's words that no source contains.
            title_weight: of the title clause.
        """
        weights = dict.fromkeys((token for bridge in bridges for token in bridge), self.weight)
        weights |= uncovered
        terms = [Term(token, (token,), weight=round(weight, 4)) for token, weight in weights.items()]
        return NamedQuery(name, or_query(terms, title_weight=title_weight), self.hits)


SECOND_SEARCH = BridgePolicy(sources=2, bridges=10, weight=0.5, hits=30)
# Tuned on HotpotQA; `python -m eval.experiments.hops --grid` cross-validates other values.
SECOND_ROUND = BridgePolicy(sources=3, bridges=10, weight=0.5, hits=20)
