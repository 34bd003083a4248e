"""What a text says of a direction: words of opposite meaning, what is denied, and where nothing was found."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from itertools import pairwise

from generator.checking.clauses import Bridge, Clause, Text, terms_of
from generator.checking.names import opens_sentence
from indexer.analysis.english import english_term
from indexer.analysis.tokens import TaggedWord, Token

# Words of one syllable that are other words too, and what must follow them.
ONLY_BEFORE = {"북": "쪽부", "남": "쪽부", "동": "쪽부", "서": "쪽부", "길": "어었게고며"}
# Words of an axis in these forms alone: 커지다 and 크다, but not the adverb 크게; 덜 어내다.
ONLY_AS = {"lift": ("lifts", "lifted", "lifting"), "크": ("커", "컸", "클"), "덜": ("덜었", "덜어", "더는")}
BOUND = re.compile(r" than \d")  # more than 50 is a number, as is less than half
BOUND_IN_WORDS = re.compile(
    r" than (?:about |around )?(?:half|halv|twice|doubl|tripl|quadrupl|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|an? (?:third|quarter|fifth|tenth|half))"
)
BOUNDING = frozenset("more less fewer".split())
# Up and down say a direction with a verb of motion: pushed up, went down.
PARTICLE_VERB = re.compile(
    r"\b(?:go|goes|going|gone|went|push\w*|dr[io]v\w*|bring|brings|brought|mov\w*|com\w+|came|edg\w*|forc\w*|creep\w*|crept"
    r"|nudg\w*|tick\w*|send|sent)(?: \w+){0,3} $",
    re.IGNORECASE,
)


def _table() -> dict[str, tuple[str, int]]:
    """Map the words of axes, Korean ones as their dictionary stems, to the axis and which end of it."""
    table: dict[str, tuple[str, int]] = {}
    lines = (resources.files("generator.checking") / "opposites.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        axis, *ends = line.split("\t")
        for sign, words in zip((1, -1), ends, strict=True):
            for word in words.split():
                table[english_term(word) or word if word.isascii() else word] = axis, sign
    return table


AXIS_WORDS = _table()
AXIS_TERMS = frozenset(AXIS_WORDS)
# Words of age and superlatives say what a clause is about, too.
TOPICAL = frozenset(word for word, (axis, _) in AXIS_WORDS.items() if axis in {"age", "extreme"})
NOT = re.compile(
    r"\b(?:not(?! only\b)|no(?! (?:less|fewer|more) than\b)|never|without|cannot|neither|nor|none|unable)\b"
    r"|\bfail(?:s|ed)? to\b|n't\b"
    r"|(?<!못지)않|(?<!다름)(?<!틀림)(?<!끊임)(?<!관계)(?<!상관)없|못하"
    r"|(?<![가-힣])(?:못|안) (?!되는|된|미치|미친)"
    r"|아니(?!라|하)|(?<!뿐 )(?<!뿐만 )아니라",
    re.IGNORECASE,
)
# Hardly, seldom, little: whoever says so may be read either way.
HARDLY = re.compile(
    r"\b(?:hardly|barely|seldom|rarely|scarcely|little|few|only|just)\b|거의|그쳤|불과|만(?=[ ,.])",
    re.IGNORECASE,
)
# Before a word of an axis: "hardly fell" is "did not fall".
BARELY = re.compile(r"\b(?:hardly|barely|scarcely)(?: any)? $", re.IGNORECASE)
KOREAN_BARELY = re.compile(r"거의 (?:[가-힣]+ )?$")
SLIGHTLY = re.compile(
    r"\b(?:hardly|barely|scarcely|little|slight\w*|small|marginal\w*|modest\w*|minor|minimal\w*|somewhat|negligibl\w*)\b|거의|소폭|약간|조금|다소|미미|근소"
)
SLIGHT_RATIO, SLIGHT_SHARE = Decimal("0.8"), 10  # of what was and what became; in percent
NOTHING_FOUND = re.compile(
    r"(?:\b(?:no|not|without|neither)|n't)\b[^,;.]{0,40}"
    r"\b(?:change|differ\w*|effect\w*|relation\w*|associat\w*|significan\w*|benefit|improve\w*)"
    r"|\b(?:unchanged|remained (?:the same|constant|stable))\b"
    r"|(?:차이|변화|효과|관련|관계|영향|연관)[가-힣]{0,3}\s?(?:[가-힣]+\s)?"
    r"(?:없|(?:나타나|보이|드러나|확인되)지 않)"
    r"|(?:변하|달라지|바뀌|줄|늘|오르|떨어지|감소하|증가하|유의하)지(?:는|도)? (?:않|못)"
    r"|유의한 [가-힣]+[가-힣]? (?:없|않)|그대로",
    re.IGNORECASE,
)
COMPARED = re.compile(
    r"\bthan\b(?! (?:\d|half\b|twice\b|a (?:third|quarter)))|\b(?:twice|half|times) as \w+(?: \w+){0,3} as\b"
    r"|\b(?:times|half) (?:that|those) (?:of|in|for|with|at)\b"
    r"|\bcompared (?:with|to)\b|\bagainst\b|\bversus\b"
    r"|의 (?=(?:약 |거의 )?(?:(?:[두세네]|다섯|\d{1,4}(?:\.\d{1,4})?)\s?배|절반|갑절|곱절))"
    r"|보다(?![가-힣])|에 비해|에 견주어|대비",
    re.IGNORECASE,
)
COMPARATIVES = frozenset(
    "more less fewer higher lower greater larger smaller better worse stronger weaker longer shorter".split()
)
BE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|became|become|remained|stayed) (?:\w+ly )?$", re.IGNORECASE
)
ENDS_A_PHRASE = re.compile(
    r"\W*$|[,;.)]| (?:than|in|at|for|with|by|on|after|among|and|when|if|of|to)\b", re.IGNORECASE
)
DETERMINERS = frozenset("a an any the significant significantly further".split())
FUNCTION_WORDS = frozenset(
    "from than when where which who their its they we our he she has had have did do does was were been "
    "one on wherea but and against versu although though yet also both each onli after befor between among "
    "while so less more most such these those them they him her it itself per "
    "것 때 수 등 뒤 지 이 있 되 하 나타나 보이".split()
)
SHORTLY_BEFORE = 30  # characters
LONGEST_VERB = 5  # tagged parts
WITHOUT = re.compile(r"\bwithout (?:(?:an?|any|the) )?$")
WINDOW = 4  # tokens before a word of an axis, and in English behind it
BEHIND = 1  # in Korean: 늘어난 매출
NEARLY_AS_GOOD = 0.75
LEAST_SHARED = 2
MOST_PAIRS = 10_000  # of a sentence's directions and those of its sources; of more none are compared


@dataclass(frozen=True, slots=True)
class Direction:
    """A word of an axis where it stands: which end, whether denied, and what stands around it."""

    axis: str
    sign: int  # 0: nothing was found to change or to differ
    written: str
    near: tuple[Token, ...]
    clause: Clause
    denied: bool
    hardly: bool
    standard: frozenset[str] | None = None  # what it is compared with
    phrase: tuple[str, str] | None = None  # with the word behind it
    beside: tuple[Token, ...] = ()  # the two words before it and the one behind it
    start: int = 0  # where the word stands in its text
    end: int = 0
    barely: bool = False
    attribute: bool = False  # of a noun behind it: higher doses, 높은 집단


# A direction and the terms near it, of its clause and of its sentence, without those of directions.
_Place = tuple[Direction, set[str], set[str], set[str]]


def directions(text: Text) -> list[Direction]:
    """Return what a text says of directions, in its order."""
    found = []
    verbs = {start: place for place, (_, start, _) in enumerate(text.tagged)}
    for clause in text.clauses:
        words = text.words_of(clause)
        hardly, standard = bool(HARDLY.search(words)), standard_of(text, clause)
        if NOTHING_FOUND.search(words):
            near = tuple(token for token in clause.tokens if token[0] not in AXIS_WORDS)
            found.append(
                Direction(
                    "amount", 0, words.strip(), near, clause, denied=False, hardly=hardly, standard=standard
                )
            )
        content = [place for place, token in enumerate(clause.tokens) if _is_content(token)]
        for place, token in enumerate(clause.tokens):
            sign = AXIS_WORDS.get(token[0]) or AXIS_WORDS.get(text.text[token[2] : token[3]])
            if sign is None or not _is_direction(token, text.text):
                continue
            behind = WINDOW if token[0].isascii() else BEHIND
            first, last = bisect_left(content, place), bisect_right(content, place)
            before = [clause.tokens[each] for each in content[max(0, first - WINDOW) : first]]
            attribute = is_attribute(token, text.text)
            if attribute or (
                token[0].isascii()
                and WITHOUT.search(text.text, max(clause.start, token[2] - SHORTLY_BEFORE), token[2])
            ):
                before = []
            after = [clause.tokens[each] for each in content[last : last + behind]]
            near, beside = (*before, *after), (*before[-2:], *after[:1])
            written = text.text[token[2] : token[3]]
            denied = _is_denied(token, clause, text.text)
            attribute = attribute or tells_of_a_noun(text.tagged, verbs.get(token[2]))
            following = next((other[0] for other in clause.tokens[place + 1 :] if other[0] != "쪽"), None)
            phrase = (token[0], following) if following else None
            where, barely = (token[2], token[3]), _is_barely(token, clause, text.text, denied=denied)
            found.append(
                Direction(
                    *sign,
                    written,
                    near,
                    clause,
                    denied,
                    hardly,
                    standard,
                    phrase,
                    beside,
                    *where,
                    barely,
                    attribute,
                )
            )
    return found


def _is_content(token: Token) -> bool:
    return token[0] not in AXIS_WORDS and token[0] not in FUNCTION_WORDS and not token[0].isdigit()


def tells_of_a_noun(tagged: Sequence[TaggedWord], place: int | None) -> bool:
    """Tell whether the Korean verb at a place of the tagged words has the form that stands before a noun."""
    if place is None:
        return False
    for number in range(place, min(place + LONGEST_VERB, len(tagged))):
        if "ETM" in tagged[number][0]:
            return True
        if number + 1 < len(tagged) and tagged[number + 1][1] > tagged[number][2]:
            return False
    return False


def is_attribute(token: Token, text: str) -> bool:
    """Tell whether an English comparative stands before its noun: "fewer events", not "was higher in"."""
    if text[token[2] : token[3]].lower() not in COMPARATIVES:
        return False
    return not BE.search(text[max(0, token[2] - SHORTLY_BEFORE) : token[2]]) and not ENDS_A_PHRASE.match(
        text, token[3]
    )


def _is_denied(token: Token, clause: Clause, text: str) -> bool:
    if token[0].isascii():
        before = text[clause.start : token[2]].split()[-4:]
        denied = NOT.search(" ".join(before))
        if denied is None:
            return False
        # "Without lamps fell" denies the lamps, but "without a fall", "without reducing" the change.
        if denied[0].lower() == "without":
            return before[-1] == denied[0] or (before[-2:-1] == [denied[0]] and before[-1] in DETERMINERS)
        return denied[0].lower() != "no" or denied[0] in before[-2:]
    return bool(NOT.search(text[token[3] : min(token[3] + 7, clause.end)]))


def _is_barely(token: Token, clause: Clause, text: str, *, denied: bool) -> bool:
    before = text[max(clause.start, token[2] - SHORTLY_BEFORE) : token[2]]
    if token[0].isascii():
        return bool(BARELY.search(before))
    return denied and bool(KOREAN_BARELY.search(before))


def _is_slight(text: Text, clause: Clause) -> bool:
    """Tell whether a clause says that a change is small, in words or by its numbers."""
    if SLIGHTLY.search(text.words_of(clause)):
        return True
    counted = text.quantities_in(clause.start, clause.end)
    shares = [each.value for each in counted if each.unit and each.unit.dimension.startswith("share")]
    if len(shares) == 1:
        return shares[0] <= SLIGHT_SHARE
    return any(
        first.value
        and second.value
        and first.unit == second.unit
        and min(first.value, second.value) >= SLIGHT_RATIO * max(first.value, second.value)
        for first, second in pairwise(counted)
    )


def standard_of(text: Text, clause: Clause) -> frozenset[str] | None:
    """Return the terms of what a clause compares with: those behind "than", those before 보다."""
    match = COMPARED.search(text.text, clause.start, clause.end)
    if not match:
        return None
    if match[0].isascii():
        return frozenset(token[0] for token in clause.tokens if token[2] >= match.end())
    before = [token for token in clause.tokens if token[3] <= match.start()]
    words = text.text[clause.start : match.start()].split()[-2:]
    begin = match.start() - len(" ".join(words))
    return frozenset(token[0] for token in before if token[2] >= begin)


def _is_direction(token: Token, text: str) -> bool:
    """Tell whether a word says a direction: not the first part of a name such as East Sea."""
    written = text[token[2] : token[3]]
    if written == "double" and text.startswith(" the ", token[3]):
        return False
    if written in {"up", "down"}:
        return bool(PARTICLE_VERB.search(text[max(0, token[2] - SHORTLY_BEFORE) : token[2]]))
    if written[0].isupper() and not opens_sentence(text, token[2]):
        return False
    if BOUND.match(text, token[3]) or (written in BOUNDING and BOUND_IN_WORDS.match(text, token[3])):
        return False
    if token[0] in ONLY_AS and not written.startswith(ONLY_AS[token[0]]):
        return False
    following = ONLY_BEFORE.get(written)
    return following is None or text[token[3] : token[3] + 1] in following


def contradictions(
    sentence: Text,
    own: Sequence[Direction],
    sources: Sequence[tuple[Text, Sequence[Direction]]],
    bridge: Bridge,
    of_others: Set[tuple[int, int]] = frozenset(),
) -> Iterator[tuple[str, str]]:
    """Yield words of a sentence and those of the sources that turn them round.

    `of_others`: pairs of directions, by their id, that are said of different things.

    A word of an axis contradicts where the place of the sources that shares most with it has the other
    end of the axis, or denies it, and no place that shares nearly as much agrees. A comparison is read
    with its sides: "A higher than B" is "B lower than A". Of more than MOST_PAIRS pairs none are compared.
    """
    own = [_plainly(direction) for direction in own if direction.barely or not direction.hardly]
    slight = _slight_clauses(sources) if any(direction.barely for direction in own) else set()
    said = [place for source, directions_of in sources for place in _with_words(source, directions_of)]
    if len(own) * len(said) > MOST_PAIRS:
        return
    phrases = {other.phrase for other, *_ in said if other.phrase}
    named = phrases & {direction.phrase for direction in own}
    mixed = {id(direction) for direction in own if _both_ends(direction, own)}
    for direction in own:
        if id(direction) in mixed:
            # 서쪽 가장자리 is a name where both have it; the other end is what is said of it.
            rest = [
                other for other in own if other.clause is direction.clause and other.phrase not in phrases
            ]
            if direction.phrase in phrases or _both_ends(direction, rest):
                continue
        ranked = []
        for other, near_words, clause_words, sentence_words in said:
            if not _comparable(direction, other, of_others) or (
                id(direction) in mixed and other.phrase in named
            ):
                continue
            if not (near := bridge.shared(direction.near, clause_words if direction.barely else near_words)):
                continue
            clause = bridge.shared(direction.clause.tokens, clause_words)
            beside = bridge.shared(direction.clause.tokens, sentence_words)
            whole = bridge.shared(sentence.tokens, sentence_words)
            ranked.append((near + 0.5 * clause + 0.25 * beside, clause, whole, other))
        if not ranked:
            continue
        best = max(score for score, *_ in ranked)
        good = [entry for entry in ranked if entry[0] >= NEARLY_AS_GOOD * best]
        if any(_excuses(direction, other, slight, bridge) for *_, other in good):
            continue
        _, clause_shared, shared, other = max(good, key=lambda entry: entry[0])
        of_it = _of_it(direction, other, bridge)
        # A clause with both ends says one of them of something else.
        same = [
            each
            for each, *_ in said
            if each.clause is other.clause
            and each.axis == direction.axis
            and bridge.shared(direction.near, terms_of(each.near))
        ]
        if any(agrees(direction, each, bridge) for each in same):
            continue
        sure = clause_shared >= LEAST_SHARED or shared > LEAST_SHARED
        if of_it and sure and shared >= LEAST_SHARED:
            yield direction.written, other.written


def _comparable(own: Direction, other: Direction, of_others: Set[tuple[int, int]]) -> bool:
    """Tell whether two directions are of one axis; what tells of a noun is a condition, not a finding."""
    if own.axis != other.axis or (id(own), id(other)) in of_others:
        return False
    return own.attribute or not other.attribute


def _plainly(direction: Direction) -> Direction:
    """Read "hardly fell" as "did not fall"."""
    return replace(direction, denied=True, hardly=False) if direction.barely else direction


def _slight_clauses(sources: Sequence[tuple[Text, Sequence[Direction]]]) -> set[int]:
    clauses = {id(each.clause): (source, each.clause) for source, said in sources for each in said}
    return {number for number, (source, clause) in clauses.items() if _is_slight(source, clause)}


def _excuses(own: Direction, other: Direction, slight: Set[int], bridge: Bridge) -> bool:
    """Tell whether a place of the sources says the same or may do so."""
    if own.barely:
        return id(other.clause) in slight or agrees(own, replace(other, hardly=False), bridge) is not False
    return agrees(own, other, bridge) is not False


def _with_words(source: Text, said: Sequence[Direction]) -> Iterator[_Place]:
    """Yield each direction with the terms around it, those of a clause or a sentence taken once."""
    clauses = {id(clause): terms_of(clause.tokens) - AXIS_TERMS for clause in source.clauses}
    sentences: dict[int, set[str]] = defaultdict(set)
    for clause in source.clauses:
        sentences[clause.sentence] |= clauses[id(clause)]
    for direction in said:
        clause = direction.clause
        yield direction, terms_of(direction.near), clauses[id(clause)], sentences[clause.sentence]


def _of_it(own: Direction, other: Direction, bridge: Bridge) -> bool:
    """Tell whether two words of an axis are about the same."""
    said = terms_of(other.clause.tokens if own.barely else other.near)
    if bridge.shared(own.near, said) >= LEAST_SHARED:
        return True
    return own.axis != "extreme" and _next_to(own, other, bridge)


def _next_to(own: Direction, other: Direction, bridge: Bridge) -> bool:
    """Tell whether a word beside the one of the axis is the same in both."""
    return bool(bridge.shared(own.beside, terms_of(other.beside)))


def _both_ends(direction: Direction, said: Sequence[Direction]) -> bool:
    return any(
        other.clause is direction.clause
        and other.axis == direction.axis
        and other is not direction
        and other.sign != direction.sign
        for other in said
    )


def agrees(own: Direction, other: Direction, bridge: Bridge) -> bool | None:
    """Tell whether two places say the same; None where that cannot be told."""
    if other.hardly:
        return None
    if own.sign == 0:
        return True if other.sign == 0 else None
    if other.sign == 0:
        return own.denied
    same = (own.sign == other.sign) == (own.denied == other.denied)
    if own.standard is None and other.standard is None:
        return same
    if own.standard is None or other.standard is None:
        return None if not same else True
    standard = tuple(token for token in own.clause.tokens if token[0] in own.standard)
    rest = tuple(token for token in own.clause.tokens if token[0] not in own.standard)
    others = terms_of(other.clause.tokens) - other.standard
    kept = bool(bridge.shared(standard, set(other.standard) - others))
    moved = bool(bridge.shared(standard, others) and bridge.shared(rest, set(other.standard)))
    if kept == moved:
        return None
    return same == kept
