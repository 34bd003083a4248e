"""A question's constraints by the tokens of its one analysis, and the tokens that are left to search for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from indexer.analysis import Analyzer, Token
from indexer.glossary.storage import Glossary
from retriever.constraints import Constraints
from retriever.exclusions import Exclusion
from retriever.keywords import translations


class Reading(Protocol):
    """What questions are read by: an index, or what stands in for one."""

    @property
    def analyzer(self) -> Analyzer: ...  # noqa: D102
    @property
    def glossary(self) -> Glossary: ...  # noqa: D102


def analyse_constraints(
    index: Reading, constraints: Constraints, text: str, tokens: Sequence[Token]
) -> tuple[Constraints, list[Token]]:
    """Give exclusions their tokens, and return with them the tokens outside of all constraints.

    Where nothing would be left to search for, the whole question is searched for.
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
    """Add the tokens of an exclusion that are not named elsewhere, and their translations.

    A text that does not stand at its place, given or edited, is analysed by itself.
    """
    # English words stand behind their operator, a Korean word before it.
    ahead = text.startswith(exclusion.text, exclusion.start)
    start = exclusion.start if ahead else exclusion.end - len(exclusion.text)
    end = start + len(exclusion.text)
    if exclusion.end and text[max(0, start) : end] == exclusion.text:
        own = [token for token in tokens if start <= token[2] and token[3] <= end]
    else:
        own = index.analyzer.analyze(exclusion.text)
    found = tuple(token for token in dict.fromkeys(token[0] for token in own) if token not in named)
    alike = [
        translation
        for translation in translations(own, index.glossary, index.analyzer)
        if translation.source & {*found}
    ]
    return replace(exclusion, tokens=found, translations=tuple(alike))
