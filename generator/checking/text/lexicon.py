"""Words and patterns that several signs use: direction, negation, hedging, function words.

*rose* and *fell* are the two ends of the axis "amount" (`opposites.tsv`); *not* and 않다 negate; *hardly*
hedges.
"""

import re
from collections.abc import Iterable
from importlib import resources

from base.patterns import lazy_regex
from indexer.analysis.english import english_term
from indexer.analysis.tokens import Token


def table(name: str) -> list[list[str]]:
    """Return the rows of a table of words in this package, without its first line, a comment."""
    lines = (resources.files("generator.checking") / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


# Axis and polarity of each word of direction; Korean words are dictionary stems.
AXIS_WORDS = {
    english_term(word) or word: (axis, polarity)
    for axis, *ends in table("opposites.tsv")
    for polarity, words in zip((1, -1), ends, strict=True)
    for word in words.split()
}
AXIS_TERMS = frozenset(AXIS_WORDS)
# Words of age and superlatives also belong to the topic of a clause.
TOPICAL = frozenset(word for word, (axis, _) in AXIS_WORDS.items() if axis in {"age", "extreme"})
# Axes on which more of one means more of the others.
AMOUNTS = frozenset({"amount", "length", "width", "depth", "heat"})
FUNCTION_WORDS = frozenset(
    "from than when where which who their its they we our he she has had have did do does was were been "
    "one on wherea but and against versu although though yet also both each onli after befor between among "
    "while so less more most such these those them they him her it itself per "
    "것 때 수 등 뒤 지 이 있 되 하 나타나 보이".split()
)
FUNCTION_OR_DIRECTION = FUNCTION_WORDS | AXIS_TERMS
# Words that name no factor and no outcome of an effect.
GENERIC_WORDS = FUNCTION_OR_DIRECTION | {
    english_term(word) or word
    for word in """
    change changed differ difference differences effect effects significant significantly group groups show
    shows showed seen found clear clearly statistically statistical result results study studies no not none
    only related relation relationship association between whether there more less other any still remained
    unchanged hardly barely scarcely matter mattered matters respond responded important importance
    차이 효과 변화 유의 관계 영향 통계 집단 뚜렷 관련 결과 경우 연구 두 세 군 환자 나타나 않 없 달라지 사이
    전후 때 수 것 적
    """.split()
}  # fmt: skip
NEGATION = lazy_regex(
    r"\b(?:not(?! only\b)|no(?! (?:less|fewer|more) than\b)|never|without|cannot|neither|nor|none|unable)\b"
    r"|\bfail(?:s|ed)? to\b|n't\b"
    r"|(?<!못지)않|(?<!다름)(?<!틀림)(?<!끊임)(?<!관계)(?<!상관)없|못하"
    r"|(?<![가-힣])(?:못|안) (?!되는|된|미치|미친)"
    r"|아니(?!라|하)|(?<!뿐 )(?<!뿐만 )아니라",
    re.IGNORECASE,
)
# Hedged clauses have no certain polarity: hardly, seldom, little.
HEDGE = lazy_regex(
    r"\b(?:hardly|barely|seldom|rarely|scarcely|little|few|only|just)\b|거의|그쳤|불과|만(?=[ ,.])",
    re.IGNORECASE,
)
SLIGHTLY = lazy_regex(
    r"\b(?:hardly|barely|scarcely|little|slight\w*|small|marginal\w*|modest\w*|minor|minimal\w*|somewhat|negligibl\w*)\b|거의|소폭|약간|조금|다소|미미|근소"
)
# No change, difference or effect.
NO_EFFECT = lazy_regex(
    r"(?:\b(?:no|not|without|neither)|n't)\b[^,;.]{0,40}"
    r"\b(?:change|differ\w*|effect\w*|relation\w*|associat\w*|significan\w*|benefit|improve\w*)"
    r"|\b(?:unchanged|remained (?:the same|constant|stable))\b"
    r"|(?:차이|변화|효과|관련|관계|영향|연관)[가-힣]{0,3}\s?(?:[가-힣]+\s)?"
    r"(?:없|(?:나타나|보이|드러나|확인되)지 않)"
    r"|(?:변하|달라지|바뀌|줄|늘|오르|떨어지|감소하|증가하|유의하)지(?:는|도)? (?:않|못)"
    r"|유의한 [가-힣]+[가-힣]? (?:없|않)|그대로",
    re.IGNORECASE,
)
NOUN_BEFORE = lazy_regex(
    r"\b(?:the|a|an|this|that|of|no|its|their|by|in|with|for|and|higher|lower)\s$", re.IGNORECASE
)
INTRANSITIVE = lazy_regex(
    r"\s?(?:$|[,;.:]|\d|(?:in|by|with|after|when|from|at|among|for|during|to|than|only|more|less|most|on|over"
    r"|under|as|of|and|or|was|were|is|are)\b)",
    re.IGNORECASE,
)
PASSIVE = lazy_regex(r"\b(?:is|are|was|were|be|been|being)\s(?:\w+ly\s)?$", re.IGNORECASE)
MOST_PAIRS = 10_000  # parts of a claim times parts of its passages; more are not compared


def content_tokens(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """Return the tokens other than function words and digits."""
    return tuple(token for token in tokens if token[0] not in FUNCTION_WORDS and not token[0].isdigit())
