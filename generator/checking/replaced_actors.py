"""Actors in place of the authors: "sentences select evidence" for "we select evidence"."""

import re
from collections.abc import Iterator, Sequence

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in, terms_of
from generator.checking.opposites import FUNCTION_WORDS
from indexer.analysis.tokens import Token

WE = re.compile(r"\b[Ww]e (?:\w+ly )?(?=[a-z]{4,})")
# Whom a report may name for "we": people and tools, by the ending or by the word.
AGENT = re.compile(
    r"(?:[eo]rs|ists|ants|ians|authors|people|studies|methods|systems|models|approaches|experiments|methodologies"
    r"|algorithms|techniques|networks|frameworks|pipelines|teams|groups|analyses|tests|trials|procedures|results"
    r"|simulations|strategies|programs|scripts|tools|machines|robots|crews|devices|instruments|engines)$"
)
PLURAL = re.compile(r"\b([a-z]{3,}[^\W_s]s)\s(?:\w+ly\s)?$", re.IGNORECASE)
NOUN = re.compile(r"(?:ions?|[eo]rs?|als?|ments?|ances?|it(?:y|ies))$", re.IGNORECASE)  # selection, retrieval
OBJECT = 2  # words behind the verb
SHORTLY_BEFORE = 40  # characters


def replaced_actors(own: Text, sources: Sequence[Text], bridge: Bridge) -> Iterator[str]:
    """Yield the plural nouns of a sentence that do what the sources say of the authors ("we")."""
    by_authors: dict[str, set[str]] = {}
    others: set[str] = set()  # verbs that the sources have without "we"
    for source in sources:
        starts = {match.end() for match in WE.finditer(source.text)}
        for token in source.tokens:
            if token[2] in starts:
                by_authors.setdefault(token[0], set()).update(terms_of(_behind(source, token)))
            elif not NOUN.search(source.text[token[2] : token[3]]):
                others.add(token[0])
    for token in own.tokens if by_authors else ():
        objects = by_authors.get(token[0])
        if objects is None or token[0] in others:
            continue
        actor = PLURAL.search(own.text[max(0, token[2] - SHORTLY_BEFORE) : token[2]])
        if actor and not AGENT.search(actor[1].lower()) and bridge.shared(_behind(own, token), objects):
            yield f"{actor[1]} {own.text[token[2] : token[3]]}"


def _behind(text: Text, verb: Token) -> tuple[Token, ...]:
    """Return the content words that follow a verb."""
    behind = starting_in(text.tokens, start_of_token, verb[3], verb[3] + SHORTLY_BEFORE)
    return tuple(token for token in behind if token[0] not in FUNCTION_WORDS)[:OBJECT]
