"""Analysed constraints of a question, and the remaining tokens to search for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from indexer.analysis import Analyzer, Token
from indexer.glossary.storage import Glossary
from retriever.constraints.excluded_names import listed_items, names_of
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints


class Reading(Protocol):
    """An index, or another analyzer with a glossary."""

    @property
    def analyzer(self) -> Analyzer: ...  # noqa: D102
    @property
    def glossary(self) -> Glossary: ...  # noqa: D102


def analyse_constraints(
    index: Reading, constraints: Constraints, text: str, tokens: Sequence[Token]
) -> tuple[Constraints, list[Token]]:
    """Add names to the exclusions, and return also the tokens outside of all constraints.

    If no tokens remain, the whole question is searched for.
    """
    places = constraints.places()
    kept = [
        token for token in tokens if not any(start <= token[2] and token[3] <= end for start, end in places)
    ]
    if not any(character.isalnum() for token in kept for character in token[0]):
        given = tuple(exclusion for exclusion in constraints.exclusions if not exclusion.end)
        constraints, kept = replace(constraints, exclusions=given), list(tokens)
    named = {token[0] for token in kept}
    exclusions = (_analysed(index, exclusion, text, tokens, named) for exclusion in constraints.exclusions)
    return replace(constraints, exclusions=tuple(exclusions)), kept


def _analysed(
    index: Reading, exclusion: Exclusion, text: str, tokens: Sequence[Token], named: set[str]
) -> Exclusion:
    """Add the tokens and names of an exclusion, except items whose words are all named elsewhere.

    A given or edited text, which is not in the question, is analysed separately.
    """
    # English words follow their operator, Korean words precede it.
    ahead = text.startswith(exclusion.text, exclusion.start)
    start = exclusion.start if ahead else exclusion.end - len(exclusion.text)
    end = start + len(exclusion.text)
    if exclusion.end and text[max(0, start) : end] == exclusion.text:
        own = [token for token in tokens if start <= token[2] and token[3] <= end]
    else:
        text, start, end = exclusion.text, 0, len(exclusion.text)
        own = index.analyzer.analyze(text)
    words = [token for token in own if any(map(str.isalnum, token[0]))]
    items = [item for item in listed_items(words, text, start, end) if not named.issuperset(item.tokens)]
    # If the question also asks for the last word, the word is only the kind of the excluded thing.
    names = [names_of(item, index.glossary, room=item.tokens[-1] in named) for item in items]
    return replace(
        exclusion,
        tokens=tuple(dict.fromkeys(token for item in items for token in item.tokens)),
        names=tuple(dict.fromkeys(name for each in names for name in each.tokens)),
        written=tuple(dict.fromkeys(name for each in names for name in each.written)),
    )
