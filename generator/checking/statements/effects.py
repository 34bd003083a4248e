"""Sign: an effect for which the passages report none, or no effect for which they report one.

Claim "pay lowered the wish to leave" for the passage "pay was not related to the wish to leave".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from base.patterns import lazy_regex
from generator.checking.statements.directions import Direction
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import GENERIC_WORDS, HEDGE, MOST_PAIRS, NEGATION, NO_EFFECT, SLIGHTLY
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity
from indexer.analysis.tokens import Token

# An effect that ended or was hardly present.
NOTHING_LEFT = lazy_regex(
    r"\b(?:effect|differ|gain|benefit|advantage|respon|associat|relat|improve)\w*[^,;.]{0,20}\b(?:disappear|vanish|fad)(?:ed|es)?\b"
    r"|\bno longer (?:found|seen|present|significant|there)\b"
    r"|(?:\b(?:no|not|never|neither|nor)\b|n't\b)[^,;.]{0,30}\b(?:relat|correlat|link|affect|influenc|matter|depend|predict"
    r"|respond|help)\w*"
    r"|\b(?:hardly|barely|scarcely) (?:matter|respond|chang|affect|differ|influenc|improv)\w*"
    r"|(?:효과|차이|이득|영향|관계|관련)[가-힣]{0,3} (?:[가-힣]+ )?(?:사라(?:졌|지|진)|없어(?:졌|지))",
    re.IGNORECASE,
)
EFFECT = lazy_regex(
    r"\b(?:affect|influenc|improv|associat|relat|correlat|link|caus|benefit|weaken|strengthen|moderat|mediat|respond"
    r"|depend|mov(?:ed|es)\b|due to|because of|matter|important|driv|predict|explain)\w*"
    r"|\b(?:main|chief|key|strongest) |\bdiffer(?:ed|s)?\b|\bsignificant(?:ly)?\b"
    r"|영향|관련(?=[이성])|효과가|효과를|때문|차이를|차이가|원인|연관|작용|좌우|반응|민감|중요|요인|이유|달라졌|유의하",
    re.IGNORECASE,
)
EXCEPT = lazy_regex(
    r"\b(?:except|unlike|other than|rather than|apart from)\b|제외|달리|말고|외에", re.IGNORECASE
)
BODY = "\n\n"  # between a title and its abstract
LEAST_SHARED, LEAST_SHARE = 3, 0.5


@dataclass(frozen=True, slots=True)
class EffectStatement:
    """A clause that may report an effect or its absence."""

    clause: Clause
    written: str
    absent: bool
    uncertain: bool  # hardly, slightly
    present: bool  # reports a direction or an effect without negation
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    compared: frozenset[str]  # terms of standards of comparison
    condition: Clause | None  # the previous clause, if its words are used


def effect_statements(text: Text, directions: Sequence[Direction]) -> Iterator[EffectStatement]:
    """Yield the clauses of a text as statements about effects; a title has none."""
    title = text.text.find(BODY)
    by_clause: dict[int, list[Direction]] = defaultdict(list)
    for each in directions:
        by_clause[each.clause.start].append(each)
    before: Clause | None = None
    for clause in text.clauses:
        if clause.end <= title:
            continue
        written = text.words_of(clause)
        here = by_clause[clause.start]
        absent = any(not each.polarity for each in here) or bool(NOTHING_LEFT.search(written))
        rest = NOTHING_LEFT.sub("", written) if absent else written
        reported = not absent and (
            any(each.polarity and not each.negated for each in here) or bool(EFFECT.search(written))
        )
        words = terms_of(clause.tokens) - GENERIC_WORDS
        condition = None
        if absent and not words and before and before.sentence == clause.sentence:
            words, condition = terms_of(before.tokens) - GENERIC_WORDS, before  # X를 통제하면 유의하지 않았다
        before = clause
        yield EffectStatement(
            clause,
            written.strip(),
            absent,
            bool(HEDGE.search(rest) or SLIGHTLY.search(rest)),
            reported and not NEGATION.search(written),
            frozenset(words),
            tuple(text.quantities_in(clause.start, clause.end)),
            frozenset(chain.from_iterable(each.standard or () for each in here)),
            condition,
        )


def invented_effects(
    in_claim: Sequence[EffectStatement], passages: Sequence[Sequence[EffectStatement]], matcher: TermMatcher
) -> Iterator[str]:
    """Yield clauses that report an effect of a factor for which the passages report only absence."""
    if len(in_claim) * sum(map(len, passages)) > MOST_PAIRS:
        return
    counts = Counter(
        word
        for statements in passages
        for place in statements
        if place.absent or place.present or place.quantities
        for word in place.words
    )
    elsewhere = [place for statements in passages for place in statements if not place.absent]
    for claimed in in_claim:
        if not claimed.present or claimed.uncertain or EXCEPT.search(claimed.written):
            continue
        tokens = tuple(token for token in claimed.clause.tokens if token[0] not in claimed.compared)
        for place in chain.from_iterable(passages):
            if (
                place.absent
                and not place.uncertain
                and _names_only(tokens, claimed, place, counts, elsewhere, matcher)
            ):
                yield claimed.written
                break


def _names_only(
    tokens: Sequence[Token],
    claimed: EffectStatement,
    place: EffectStatement,
    counts: Counter[str],
    elsewhere: Sequence[EffectStatement],
    matcher: TermMatcher,
) -> bool:
    """Return True if a clause shares words with this place that no other place of the passages has."""
    twice = terms_of(place.condition.tokens) if place.condition else ()
    alone = {word for word in place.words if counts[word] <= (2 if word in twice else 1)}
    numbers = [
        quantity
        for quantity in claimed.quantities
        if any(quantity.same_as(other) for other in place.quantities)
        and not any(quantity.same_as(other) for there in elsewhere for other in there.quantities)
    ]
    matched = matcher.matched(tokens, place.words)
    if not matched & alone and not numbers:
        return False
    return len(matched) + len(numbers) >= min(LEAST_SHARED - 1, len(place.words))


def denied_effects(
    in_claim: Sequence[EffectStatement], passages: Sequence[Sequence[EffectStatement]], matcher: TermMatcher
) -> Iterator[str]:
    """Yield clauses that report no effect if the passages report one and none of them its absence."""
    places = list(chain.from_iterable(passages))
    if len(in_claim) * len(places) > MOST_PAIRS:
        return
    for claimed in in_claim:
        if not NO_EFFECT.search(claimed.written) or len(claimed.words) < LEAST_SHARED:
            continue
        tokens = tuple(token for token in claimed.clause.tokens if token[0] not in GENERIC_WORDS)
        if any(
            (place.absent or place.uncertain or NEGATION.search(place.written))
            and matcher.matched(tokens, place.words)
            for place in places
        ):
            continue
        shared = [(matcher.count(tokens, place.words), place) for place in places if place.present]
        best, place = max(shared, key=lambda each: each[0], default=(0, None))
        if place and best >= max(LEAST_SHARED, LEAST_SHARE * len(claimed.words)):
            yield claimed.written
