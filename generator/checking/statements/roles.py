"""Sign: semantic roles exchanged, or another actor instead of the authors; within a language only.

Claim "water slows the attack of the bonds" for the passage "the bonds slow the attack of water"; 수면은
소음을 방해한다 for 소음은 수면을 방해한다; "sentences select evidence" for "we select evidence".
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.text.clauses import Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import (
    FUNCTION_WORDS,
    INTRANSITIVE,
    MOST_PAIRS,
    NOUN_BEFORE,
    PASSIVE,
    content_tokens,
)
from generator.checking.text.matching import TermMatcher
from indexer.analysis.english import english_term
from indexer.analysis.tokens import Token

# Transitive verbs with an actor and an object.
VERBS = frozenset(
    english_term(verb) or verb
    for verb in """
    accelerate accept activate adopt affect allow attack beat block cause consume contain control
    cut damage decrease delay determine displace dominate drive enable enhance exceed explain follow
    generate imitate improve increase induce infect influence inhibit kill limit lower mediate
    moderate outperform oppose outweigh precede predict prevent produce promote protect raise reduce
    reject release replace require restrict slow stimulate strengthen support suppress surpass teach
    treat trigger weaken yield
    """.split()
)
BY = re.compile(r"\s(?:\w+ ){0,2}?by\b", re.IGNORECASE)
ROLES = {"JKS": "actor", "JX": "actor", "JKO": "object"}
SHORTLY_BEFORE = 24  # characters
WE = re.compile(r"\b[Ww]e (?:\w+ly )?(?=[a-z]{4,})")
# Actors that may replace "we": people and tools, by ending or word.
AGENT = re.compile(
    r"(?:[eo]rs|ists|ants|ians|authors|people|studies|methods|systems|models|approaches|experiments|methodologies"
    r"|algorithms|techniques|networks|frameworks|pipelines|teams|groups|analyses|tests|trials|procedures|results"
    r"|simulations|strategies|programs|scripts|tools|machines|robots|crews|devices|instruments|engines)$"
)
PLURAL = re.compile(r"\b([a-z]{3,}[^\W_s]s)\s(?:\w+ly\s)?$", re.IGNORECASE)
NOUN = re.compile(r"(?:ions?|[eo]rs?|als?|ments?|ances?|it(?:y|ies))$", re.IGNORECASE)  # selection, retrieval
OBJECT = 2  # words after the verb
NEAR = 40  # characters


@dataclass(frozen=True, slots=True)
class Action:
    """A verb with the words of its actor and of its object."""

    verb: str
    actor: frozenset[str]
    object: frozenset[str]


def actions(text: Text) -> Iterator[Action]:
    """Yield the verbs of a text with their actor and object."""
    yield from _korean_actions(text) if text.korean else _english_actions(text)


def _english_actions(text: Text) -> Iterator[Action]:
    """Yield the transitive verbs of a text, in the active voice or in the passive with "by"."""
    for clause in text.clauses:
        content = content_tokens(clause.tokens)
        for token in clause.tokens:
            if token[0] not in VERBS:
                continue
            before = text.text[max(clause.start, token[2] - SHORTLY_BEFORE) : token[2]]
            passive = bool(PASSIVE.search(before))
            if NOUN_BEFORE.search(before):
                continue
            by = BY.match(text.text, token[3], clause.end) if passive else None
            if passive != bool(by) or (not passive and INTRANSITIVE.match(text.text, token[3], clause.end)):
                continue
            after = by.end() if by else token[3]
            first = frozenset(terms_of(starting_in(content, start_of_token, clause.start, token[2])))
            second = frozenset(terms_of(starting_in(content, start_of_token, after, clause.end)))
            if first and second:
                yield Action(token[0], second, first) if passive else Action(token[0], first, second)


def _korean_actions(text: Text) -> Iterator[Action]:
    """Yield the verbs of a text with the noun before 이, 가, 은, 는 and the noun before 을, 를."""
    for clause in text.clauses:
        heads: dict[str, set[str]] = {"actor": set(), "object": set()}
        ending_at: dict[int, set[str]] = defaultdict(set)
        for term, _, _, end in clause.tokens:
            ending_at[end].add(term)
        for tag, start, end in starting_in(text.tagged, lambda word: word[1], clause.start, clause.end):
            role = ROLES.get(tag)
            if role and (tag != "JX" or text.text[start:end] in {"은", "는"}):
                heads[role] |= ending_at[start]
        if heads["actor"] and heads["object"]:
            yield Action(clause.tokens[-1][0], frozenset(heads["actor"]), frozenset(heads["object"]))


def exchanged_roles(in_claim: Sequence[Action], in_passages: Sequence[Action]) -> Iterator[str]:
    """Yield verbs of a claim whose actor and object are exchanged in the passages."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        same = [other for other in in_passages if other.verb == claimed.verb]
        if any(_exchanged(claimed, other) for other in same) and not any(
            _agrees(claimed, other) for other in same
        ):
            yield claimed.verb


def _exchanged(claimed: Action, other: Action) -> bool:
    return bool(
        claimed.actor & (other.object - other.actor) and claimed.object & (other.actor - other.object)
    )


def _agrees(claimed: Action, other: Action) -> bool:
    return not _exchanged(claimed, other) and bool(
        claimed.actor & other.actor and claimed.object & other.object
    )


def replaced_actors(claim: Text, passages: Sequence[Text], matcher: TermMatcher) -> Iterator[str]:
    """Yield plural nouns of a claim as actors of actions that the passages report of the authors ("we")."""
    by_authors: dict[str, set[str]] = {}
    others: set[str] = set()  # verbs of the passages without "we"
    for passage in passages:
        starts = {match.end() for match in WE.finditer(passage.text)}
        for token in passage.tokens:
            if token[2] in starts:
                by_authors.setdefault(token[0], set()).update(terms_of(_words_after(passage, token)))
            elif not NOUN.search(passage.text[token[2] : token[3]]):
                others.add(token[0])
    for token in claim.tokens if by_authors else ():
        objects = by_authors.get(token[0])
        if objects is None or token[0] in others:
            continue
        actor = PLURAL.search(claim.text[max(0, token[2] - NEAR) : token[2]])
        if (
            actor
            and not AGENT.search(actor[1].lower())
            and matcher.count(_words_after(claim, token), objects)
        ):
            yield f"{actor[1]} {claim.text[token[2] : token[3]]}"


def _words_after(text: Text, verb: Token) -> tuple[Token, ...]:
    """Return the content words after a verb."""
    after = starting_in(text.tokens, start_of_token, verb[3], verb[3] + NEAR)
    return tuple(token for token in after if token[0] not in FUNCTION_WORDS)[:OBJECT]
