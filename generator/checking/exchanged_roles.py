"""Exchanged roles: the two sides of a comparison, or actor and object of a verb.

"Nitrate fell more than sulfate" for "sulfate fell more than nitrate"; "water slows the attack of the bonds"
for "the bonds slow the attack of water"; 수면은 소음을 방해한다 for 소음은 수면을 방해한다.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Clause, Text, start_of_token, starting_in, terms_of
from generator.checking.numbers.numerals import TIMES
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import COMPARED, FUNCTION_WORDS, MOST_PAIRS, Direction
from indexer.analysis.english import english_term
from indexer.analysis.tokens import Token

_AT = r"(?:for|in|with|of|at|among|on)\b"
AS_FOR = re.compile(rf"\bas \w+ {_AT}[^,;.]{{1,60}}?\bas {_AT}", re.IGNORECASE)
# Verbs that compare their subject with their object, and where more is better.
OUTDOES = re.compile(
    r"\b(?:outperform|outdo|outdid|surpass|outrank|outpac|outstrip|beat|excel)\w*\s", re.IGNORECASE
)
KOREAN_OUTDOES = re.compile(
    r"([가-힣\w\s-]{2,30}?)[을를] (?:[가-힣]+ )?(?:능가|앞[서섰질]|웃도|웃돌|뛰어넘|이겼)"
)
ENDS_IN_PARTICLE = re.compile(r"[은는이가을를의에로도](?:서|서는|는)?$")
BETTER = re.compile(r"더 (?:잘|많이|크게|오래|자주|효과적|우수|정확)|우수|뛰어")
TOPIC = re.compile(r"[가-힣)\w][은는이가] ")
STANDARD_WORDS = 3  # words before 보다, and content words behind "than"
# Verbs whose subject does something to their object.
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
NOUN_BEFORE = re.compile(
    r"\b(?:the|a|an|this|that|of|no|its|their|by|in|with|for|and|higher|lower)\s$", re.IGNORECASE
)
INTRANSITIVE = re.compile(
    r"\s?(?:$|[,;.:]|\d|(?:in|by|with|after|when|from|at|among|for|during|to|than|only|more|less|most|on|over"
    r"|under|as|of|and|or|was|were|is|are)\b)",
    re.IGNORECASE,
)
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s(?:\w+ly\s)?$", re.IGNORECASE)
BY = re.compile(r"\s(?:\w+ ){0,2}?by\b", re.IGNORECASE)
SHORTLY_BEFORE = 24  # characters


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of a comparison, the first one more (1) or less (-1) than the other."""

    more: tuple[Token, ...]
    than: tuple[Token, ...]
    sign: int
    axes: frozenset[str]
    multiples: tuple[Quantity, ...]
    written: str


@dataclass(frozen=True, slots=True)
class Action:
    """A verb with the words of its actor and of its object."""

    verb: str
    actor: frozenset[str]
    object: frozenset[str]


def comparisons(text: Text, said: Sequence[Direction]) -> Iterator[Comparison]:
    """Yield the comparisons of a text that have two sides."""
    for clause in text.clauses:
        for sides in _sides(text, clause):
            more, than, place = sides
            compares = _compares(clause, said, than, place)
            counted = text.quantities_in(clause.start, clause.end)
            multiples = tuple(each for each in counted if each.unit == TIMES)
            better = None if compares else BETTER.search(text.text, place, clause.end)
            if compares or multiples or better:
                sign = _sign(compares, said) if compares else 1
                axes = frozenset({compares.axis} if compares else {"quality"} if better else ())
                more = [token for token in more if not compares or token[2] != compares.start]
                written = text.words_of(clause).strip()
                yield Comparison(_content(more), _content(than), sign, axes, multiples, written)
        yield from _outdone(text, clause)


def _sign(compares: Direction, said: Sequence[Direction]) -> int:
    """Return which side is more; of "fell more than" the verb tells."""
    sign = -compares.sign if compares.denied else compares.sign
    verb = next(
        (each for each in said if each.clause is compares.clause and each.end + 1 == compares.start), None
    )
    if verb and compares.written.isascii() and verb.axis == compares.axis:
        return sign * verb.sign
    return sign


def _outdone(text: Text, clause: Clause) -> Iterator[Comparison]:
    """Yield a comparison by a verb: "A outperformed B", A는 B를 앞섰다."""
    written = text.words_of(clause).strip()
    if match := OUTDOES.search(text.text, clause.start, clause.end):
        if PASSIVE.search(text.text[max(clause.start, match.start() - SHORTLY_BEFORE) : match.start()]):
            return
        more = starting_in(clause.tokens, start_of_token, clause.start, match.start())
        than = starting_in(clause.tokens, start_of_token, match.end(), clause.end)[:STANDARD_WORDS]
    elif match := KOREAN_OUTDOES.search(text.text, clause.start, clause.end):
        topic = TOPIC.search(text.text, clause.start, match.end(1))
        start = topic.end() if topic else match.start(1)
        more = starting_in(clause.tokens, start_of_token, clause.start, start)
        than = starting_in(clause.tokens, start_of_token, start, match.end(1))[-STANDARD_WORDS:]
    else:
        return
    if more and than:
        yield Comparison(_content(more), _content(than), 1, frozenset({"quality"}), (), written)


def _compares(
    clause: Clause, said: Sequence[Direction], than: Sequence[Token], place: int
) -> Direction | None:
    """Return the word that compares: the last one before "than", the first one behind 보다."""
    starts = {token[2] for token in than}
    here = [each for each in said if each.sign and each.clause is clause and each.start not in starts]
    before = [each for each in here if each.written.isascii() and each.start < place]
    behind = [each for each in here if not each.written.isascii() and each.start >= place]
    return before[-1] if before else behind[0] if behind else None


def _sides(text: Text, clause: Clause) -> Iterator[tuple[list[Token], list[Token], int]]:
    """Yield the two sides of a comparison and its position in the text."""
    if as_for := AS_FOR.search(text.text, clause.start, clause.end):
        behind = [token for token in clause.tokens if token[2] >= as_for.end()]
        more = [token for token in clause.tokens if token[2] < as_for.end()]
        yield more, behind[:STANDARD_WORDS], as_for.start()
        return
    match = COMPARED.search(text.text, clause.start, clause.end)
    if not match:
        return
    if match[0].isascii():
        before = [token for token in clause.tokens if token[3] <= match.start()]
        behind = [token for token in clause.tokens if token[2] >= match.end()]
        if before and behind:
            yield before, behind[:STANDARD_WORDS], match.start()
        return
    start, last_is_number = match.start(), False
    for word in reversed(text.text[clause.start : match.start()].split()[-STANDARD_WORDS:]):
        if start < match.start() and ENDS_IN_PARTICLE.search(word) and not last_is_number:
            break
        start = text.text.rindex(word, clause.start, start)
        last_is_number = word[:1].isdigit()  # 남성의 78%보다
    than = [token for token in clause.tokens if start <= token[2] < match.start()]
    more = [token for token in clause.tokens if not start <= token[2] < match.end()]
    if more and than:
        yield more, than, match.end()


def _content(tokens: Sequence[Token]) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token[0] not in FUNCTION_WORDS and not token[0].isdigit())


def exchanged_sides(
    own: Sequence[Comparison], said: Sequence[Comparison], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield comparisons of a sentence that the sources have with exchanged sides."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        exchanged = [other for other in said if _comparable(mine, other) and _swapped(mine, other, bridge)]
        if exchanged and not any(_kept(mine, other, bridge) for other in said):
            yield mine.written, exchanged[0].written


def _comparable(own: Comparison, other: Comparison) -> bool:
    if own.sign != other.sign:
        return False
    return bool(own.axes & other.axes) or any(
        mine.same_as(their) for mine in own.multiples for their in other.multiples
    )


def _swapped(own: Comparison, other: Comparison, bridge: Bridge) -> bool:
    more, than = {token[0] for token in other.more}, {token[0] for token in other.than}
    return bool(bridge.shared(own.than, more - than) and bridge.shared(own.more, than - more))


def _kept(own: Comparison, other: Comparison, bridge: Bridge) -> bool:
    more, than = {token[0] for token in other.more}, {token[0] for token in other.than}
    return bool(bridge.shared(own.more, more - than) and bridge.shared(own.than, than - more))


def actions(text: Text) -> Iterator[Action]:
    """Yield the verbs of a text with their actor and object."""
    yield from _korean_actions(text) if text.korean else _english_actions(text)


def _english_actions(text: Text) -> Iterator[Action]:
    """Yield the transitive verbs of a text, in the active voice or in the passive with "by"."""
    for clause in text.clauses:
        content = _content(clause.tokens)
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
            behind = by.end() if by else token[3]
            first = frozenset(terms_of(starting_in(content, start_of_token, clause.start, token[2])))
            second = frozenset(terms_of(starting_in(content, start_of_token, behind, clause.end)))
            if first and second:
                yield Action(token[0], second, first) if passive else Action(token[0], first, second)


def _korean_actions(text: Text) -> Iterator[Action]:
    """Yield the verbs of a text with the noun before 이, 가, 은, 는 and the one before 을, 를."""
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


ROLES = {"JKS": "actor", "JX": "actor", "JKO": "object"}


def exchanged_roles(own: Sequence[Action], said: Sequence[Action]) -> Iterator[str]:
    """Yield verbs of a sentence whose actor is the object in its sources, and the object the actor."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        same = [other for other in said if other.verb == mine.verb]
        if any(_exchanged(mine, other) for other in same) and not any(_agrees(mine, other) for other in same):
            yield mine.verb


def _exchanged(own: Action, other: Action) -> bool:
    return bool(own.actor & (other.object - other.actor) and own.object & (other.actor - other.object))


def _agrees(own: Action, other: Action) -> bool:
    return not _exchanged(own, other) and bool(own.actor & other.actor and own.object & other.object)
