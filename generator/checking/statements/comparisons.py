"""Sign: a comparison with exchanged sides, or one that names the baseline as the better side.

Claim "nitrate fell more than sulfate" for the passage "sulfate fell more than nitrate"; claim "vector
retrieval gave fewer errors than the graph" for 벡터 검색의 21.4%에서 8.9%로 낮아졌다, a result of the graph.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from base.patterns import lazy_regex
from generator.checking.statements.directions import COMPARED, Direction
from generator.checking.text.clauses import Clause, Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import (
    AMOUNTS,
    FUNCTION_OR_DIRECTION,
    MOST_PAIRS,
    PASSIVE,
    content_tokens,
)
from generator.checking.text.matching import TermMatcher
from generator.checking.text.numerals import TIMES
from generator.checking.text.quantities import Quantity
from indexer.analysis.tokens import Token

_AT = r"(?:for|in|with|of|at|among|on)\b"
AS_FOR = lazy_regex(rf"\bas \w+ {_AT}[^,;.]{{1,60}}?\bas {_AT}", re.IGNORECASE)
# Verbs that compare their subject with their object; more is better.
OUTDOES = lazy_regex(
    r"\b(?:outperform|outdo|outdid|surpass|outrank|outpac|outstrip|beat|excel)\w*\s", re.IGNORECASE
)
KOREAN_OUTDOES = lazy_regex(
    r"([가-힣\w\s-]{2,30}?)[을를] (?:[가-힣]+ )?(?:능가|앞[서섰질]|웃도|웃돌|뛰어넘|이겼)"
)
ENDS_IN_PARTICLE = lazy_regex(r"[은는이가을를의에로도](?:서|서는|는)?$")
BETTER = lazy_regex(r"더 (?:잘|많이|크게|오래|자주|효과적|우수|정확)|우수|뛰어")
TOPIC = lazy_regex(r"[가-힣)\w][은는이가] ")
MEASURED = lazy_regex(r"[가-힣)][은는이가] ")  # the measured quantity, before its object
SHORTLY_BEFORE = 24  # characters
STANDARD_WORDS = 3  # words before 보다, and content words after "than"
LABEL = 4  # content words beside the first number of a change
LEAST_OF_A_LABEL = 2


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison: its target is more (1) or less (-1) than its standard."""

    target: tuple[Token, ...]
    standard: tuple[Token, ...]
    polarity: int
    axes: frozenset[str]
    multiples: tuple[Quantity, ...]
    written: str


def comparisons(text: Text, directions: Sequence[Direction]) -> Iterator[Comparison]:
    """Yield the comparisons of a text with target and standard."""
    for clause in text.clauses:
        for side, standard, place in _sides(text, clause):
            compares = _compares(clause, directions, standard, place)
            quantities = text.quantities_in(clause.start, clause.end)
            multiples = tuple(each for each in quantities if each.unit == TIMES)
            better = None if compares else BETTER.search(text.text, place, clause.end)
            if compares or multiples or better:
                polarity = _polarity(compares, directions) if compares else 1
                axes = frozenset({compares.axis} if compares else {"quality"} if better else ())
                target = [token for token in side if not compares or token[2] != compares.start]
                written = text.words_of(clause).strip()
                sides = content_tokens(target), content_tokens(standard)
                yield Comparison(*sides, polarity, axes, multiples, written)
        yield from _outdone(text, clause)


def _polarity(compares: Direction, directions: Sequence[Direction]) -> int:
    """Return the polarity of a comparison; in "fell more than" the verb decides."""
    polarity = -compares.polarity if compares.negated else compares.polarity
    verb = next(
        (each for each in directions if each.clause is compares.clause and each.end + 1 == compares.start),
        None,
    )
    if verb and compares.written.isascii() and verb.axis == compares.axis:
        return polarity * verb.polarity
    return polarity


def _outdone(text: Text, clause: Clause) -> Iterator[Comparison]:
    """Yield a comparison by a verb: "A outperformed B", A는 B를 앞섰다."""
    written = text.words_of(clause).strip()
    if match := OUTDOES.search(text.text, clause.start, clause.end):
        if PASSIVE.search(text.text[max(clause.start, match.start() - SHORTLY_BEFORE) : match.start()]):
            return
        target = starting_in(clause.tokens, start_of_token, clause.start, match.start())
        standard = starting_in(clause.tokens, start_of_token, match.end(), clause.end)[:STANDARD_WORDS]
    elif match := KOREAN_OUTDOES.search(text.text, clause.start, clause.end):
        topic = TOPIC.search(text.text, clause.start, match.end(1))
        start = topic.end() if topic else match.start(1)
        target = starting_in(clause.tokens, start_of_token, clause.start, start)
        standard = starting_in(clause.tokens, start_of_token, start, match.end(1))[-STANDARD_WORDS:]
    else:
        return
    if target and standard:
        yield Comparison(
            content_tokens(target), content_tokens(standard), 1, frozenset({"quality"}), (), written
        )


def _compares(
    clause: Clause, directions: Sequence[Direction], standard: Sequence[Token], place: int
) -> Direction | None:
    """Return the word of comparison: the last one before "than", the first one after 보다."""
    starts = {token[2] for token in standard}
    here = [
        each for each in directions if each.polarity and each.clause is clause and each.start not in starts
    ]
    before = [each for each in here if each.written.isascii() and each.start < place]
    after = [each for each in here if not each.written.isascii() and each.start >= place]
    return before[-1] if before else after[0] if after else None


def _sides(text: Text, clause: Clause) -> Iterator[tuple[list[Token], list[Token], int]]:
    """Yield the two sides of a comparison and its position in the text."""
    if as_for := AS_FOR.search(text.text, clause.start, clause.end):
        after = [token for token in clause.tokens if token[2] >= as_for.end()]
        target = [token for token in clause.tokens if token[2] < as_for.end()]
        yield target, after[:STANDARD_WORDS], as_for.start()
        return
    match = COMPARED.search(text.text, clause.start, clause.end)
    if not match:
        return
    if match[0].isascii():
        before = [token for token in clause.tokens if token[3] <= match.start()]
        after = [token for token in clause.tokens if token[2] >= match.end()]
        if before and after:
            yield before, after[:STANDARD_WORDS], match.start()
        return
    start, last_is_number = match.start(), False
    for word in reversed(text.text[clause.start : match.start()].split()[-STANDARD_WORDS:]):
        if start < match.start() and ENDS_IN_PARTICLE.search(word) and not last_is_number:
            break
        start = text.text.rindex(word, clause.start, start)
        last_is_number = word[:1].isdigit()  # 남성의 78%보다
    standard = [token for token in clause.tokens if start <= token[2] < match.start()]
    target = [token for token in clause.tokens if not start <= token[2] < match.end()]
    if target and standard:
        yield target, standard, match.end()


def exchanged_comparisons(
    in_claim: Sequence[Comparison], in_passages: Sequence[Comparison], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield comparisons of a claim that the passages have with exchanged sides."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        exchanged = [
            other
            for other in in_passages
            if _comparable(claimed, other) and _sides_match(claimed.standard, claimed.target, other, matcher)
        ]
        if exchanged and not any(
            _sides_match(claimed.target, claimed.standard, other, matcher) for other in in_passages
        ):
            yield claimed.written, exchanged[0].written


def _comparable(claimed: Comparison, other: Comparison) -> bool:
    if claimed.polarity != other.polarity:
        return False
    return bool(claimed.axes & other.axes) or any(
        mine.same_as(their) for mine in claimed.multiples for their in other.multiples
    )


def _sides_match(
    target: Sequence[Token], standard: Sequence[Token], stated: Comparison, matcher: TermMatcher
) -> bool:
    """Return True if each of two sides shares words with one side of a comparison, in this order."""
    first, second = terms_of(stated.target), terms_of(stated.standard)
    return bool(matcher.count(target, first - second) and matcher.count(standard, second - first))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The words beside the first number of a change, and the direction of the change."""

    words: frozenset[str]
    polarity: int
    written: str


def baselines(
    text: Text, changed: Sequence[tuple[Quantity, Quantity]], directions: Sequence[Direction]
) -> Iterator[Baseline]:
    """Yield the baselines of a text: the words before a Korean number, after an English one.

    Words that occur with a direction in other clauses are left out: they may be compared there.
    """
    if len(changed) * max(len(text.clauses), len(directions)) > MOST_PAIRS:
        return
    for first, second in changed:
        for clause in text.clauses:
            if not clause.start <= first.start < clause.end:
                continue
            here = [
                each
                for each in directions
                if each.polarity and each.axis in AMOUNTS and each.clause is clause
            ]
            if len({each.polarity for each in here}) != 1:
                continue
            start, end = first.end, second.start
            if text.korean:
                topics = list(MEASURED.finditer(text.text, clause.start, first.start))
                start, end = (topics[-1].end() if topics else first.start), first.start
            beside = [
                token[0]
                for token in starting_in(clause.tokens, start_of_token, start, end)
                if token[0] not in FUNCTION_OR_DIRECTION and not text.in_quantity(token)
            ]
            words = beside[-LABEL:] if text.korean else beside[:LABEL]
            label = frozenset(words)
            elsewhere = (each for each in directions if each.axis in AMOUNTS and each.clause is not clause)
            if not any(len(label & terms_of(each.clause.tokens)) >= LEAST_OF_A_LABEL for each in elsewhere):
                yield Baseline(label, here[0].polarity, text.words_of(clause).strip())


def inverted_baselines(
    in_claim: Sequence[Comparison],
    in_passages: Sequence[Baseline],
    compared: Sequence[Comparison],
    passage_terms: set[str],
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield comparisons of a claim that name a baseline of the passages as the better side.

    If a passage compares both sides itself, `exchanged_comparisons` decides.
    """
    if len(in_claim) * (len(in_passages) + len(compared)) > MOST_PAIRS:
        return
    for claimed in in_claim:
        if not claimed.axes & AMOUNTS or not matcher.count(claimed.standard, passage_terms):
            continue
        if any(
            matcher.count(claimed.target, terms_of(other.standard) | terms_of(other.target))
            for other in compared
        ):
            continue
        for baseline in in_passages:
            words = baseline.words - terms_of(claimed.standard)
            of_it = matcher.count(claimed.target, words) >= LEAST_OF_A_LABEL
            if of_it and not matcher.count(claimed.standard, words) and baseline.polarity == claimed.polarity:
                yield claimed.written, baseline.written
                break
