"""Words before a bracket that may belong to a Korean term, back to a boundary or a particle.

… 질문과 두 단계 이내로 연결된 초록만 검색증강생성(retrieval-augmented generation)
^ a word with a particle or an ending is not part of the term
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from indexer.analysis.tokens import Analyzer, Token
from indexer.glossary.pairs import HANGUL
from indexer.glossary.patterns.english_terms import content_words, english_words
from indexer.glossary.terms import korean_tokens, spell
from indexer.glossary.transliteration import FINALS, FIRST_SYLLABLE, sounds_like

WINDOW = 90
MOST_WORDS = 8
BORDER = re.compile(
    r"(?<![A-Z])\.|[,;:?!…\"“”‘’'`「」『』《》<>〈〉\[\](){}（）【】\n\r\t=+~/|·ㆍ→←※•○*&%①-⑳]|\s[-–—−]+\s|(?:기존|이상|이하|이후|이전|대신|동안|대상|관련)\s"
)
CLOSING = {"』": "『", "」": "「", "》": "《", "〉": "〈", ">": "<", '"': '"', "'": "'", "”": "“", "’": "‘"}
CLOSED = frozenset(")）]】%" + "".join(CLOSING))
STRAIGHT_QUOTES = "\"'"
OPENING = " \t\n\r([{（【‘“「『《〈<,:"
LINE_ENDS = "\n\r"
# Suffixes of nouns that the tagger drops.
NOUN_SUFFIXES = frozenset(
    "적 성 화 형 식 용 들 별 상 계 류 권 률 율 력 제 질 학 자 법 기 체 물 감 씨 님 풍 급 당 군".split()
)
# Particles and endings of one syllable; no term ends with one.
VERBAL_TAILS = frozenset(
    "은 는 이 가 을 를 의 에 와 과 도 만 로 나 며 고 다 지 야 요 서 면 게 랑 니 자 한 된 인".split()
)
GENITIVE, VERBAL_END = "의", "다"
CONNECTIVE_TAILS = frozenset("면 며 니 게 서 야 요".split())  # of verbs only
CLEAR_ENDING = re.compile(".+(?:는|를|에서|으로|에게|까지|부터|하여|하고|며|지만|한다|였다|했다)")
# Analyzers that keep the particles of Korean words, and the endings of such words.
LEAVE_PARTICLES = frozenset({"english"})
LIKELY_ENDING = re.compile(".+(?:은|는|을|를|이라|와|만|의|된|한)")
NO_TERM = frozenset(
    "등 외 및 또는 혹은 이른바 소위 즉 예 것 수 중 때 바 측 명 건 곳 내 간 뒤 데 약 겸 경우 때문 비롯 "
    "약칭 별칭 일명 본명 통칭 애칭 속칭".split()
)
LISTING = frozenset("등 외 및 또는 혹은".split())
QUANTITY = re.compile(r"\d[\d.,]*(?:분|초|시|년|월|일|명|개|번|위|회|건)?")
ORDINAL = re.compile(r"\d.*|번째")
NUMERAL = re.compile(r"\d|\b[IVX]+\b")
JOINED = re.compile(r"\bof\b|['’]s\b|\bfor\b")
FINAL_N, FINAL_R, FINAL_SS = 4, 8, 20
PAST_OR_PRESENT = frozenset((FINAL_N, FINAL_SS))  # in front of 다: 그린다, 그렸다
CLOSING_PARTICLES = frozenset("은 는 을 를 만".split())
CONNECTING = frozenset("의 와 과".split())

Behind = Literal["", "modifier", "joined"]


class Span(NamedTuple):
    """The text between the last boundary and a bracket; `broken` if a line break may split its first word."""

    text: str
    border: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """The words before a bracket that may be part of the term, last word first.

    `starts` are their offsets, `morphemes` their numbers of tokens. `behind` is the kind of the preceding
    word: a modifier (an adverb, a word with an adnominal ending) or a joined word (by 의, 와 or 과; a
    number).
    """

    surfaces: tuple[str, ...]
    starts: tuple[int, ...]
    morphemes: tuple[int, ...]
    behind: Behind = ""


def span_before(before: str) -> Span:
    """Return the text before a bracket, back to the last boundary."""
    window = before[-WINDOW:]
    borders = list(BORDER.finditer(window))
    if not borders:
        return Span((window if len(before) <= WINDOW else window.partition(" ")[2]).strip())
    border = borders[-1].group()
    front, text = window[: borders[-1].start()], window[borders[-1].end() :]
    closed = border in CLOSED and not (border in STRAIGHT_QUOTES and _opens_quote(front))
    if closed and not text[:1].isspace():  # a particle belongs to the closed quote or bracket
        text = text.partition(" ")[2]
    return Span(text.strip(), border, border in LINE_ENDS and front[-1:].isalnum())


def _opens_quote(front: str) -> bool:
    """Check whether a straight quote after `front` is an opening one; several in a row are one."""
    front = front.rstrip(STRAIGHT_QUOTES)
    return not front or front[-1] in OPENING


def words_before(text: str, english: str, analyzer: Analyzer) -> Words | None:
    """Return the words at the end that may be part of the term; None if the last word is not a noun."""
    tokens = analyzer.analyze(text)
    keeps_particles = analyzer.name in LEAVE_PARTICLES
    joined = JOINED.search(english) is not None
    targets = content_words(english)
    known = {word.lower() for word in english_words(english)}
    surfaces: list[str] = []
    starts: list[int] = []
    morphemes: list[int] = []
    behind: Behind = ""
    for found in reversed(list(re.finditer(r"\S+", text))):
        surface, start, end = found.group(), found.start(), found.end()
        inside = [token for token in tokens if token[2] < end and token[3] > start]
        tail = text[inside[-1][3] : end] if inside else surface
        ends = (
            surface in NO_TERM
            or (surfaces and tail in CLOSING_PARTICLES)
            or (surface[0].isdecimal() and not NUMERAL.search(english))
            or CLEAR_ENDING.fullmatch(surface) is not None
        )
        if not any(sounds_like(surface, target) for target in targets):  # the tagger knows few names
            ends = ends or not inside or (keeps_particles and LIKELY_ENDING.fullmatch(surface) is not None)
            if surfaces:
                ends = (
                    ends
                    or _is_inflected(text, inside[-1])
                    or (tail != "" and tail not in NOUN_SUFFIXES and not (joined and tail == GENITIVE))
                    or (not HANGUL.search(surface) and surface.lower() not in known)
                )
            else:
                ends = ends or QUANTITY.fullmatch(surface) is not None
                ends = ends or not _is_noun(surface, text, tokens, analyzer)
        if ends:
            if (
                tail in CONNECTING
                or surface in LISTING
                or tail.endswith(GENITIVE)
                or ORDINAL.fullmatch(surface)
            ):
                behind = "joined"
            elif surface not in NO_TERM and (not inside or _is_adnominal(surface, tail)):
                behind = "modifier"
            break
        surfaces.append(surface)
        starts.append(start)
        morphemes.append(len({token[1] for token in inside}) + (tail in NOUN_SUFFIXES))
        if len(surfaces) == MOST_WORDS:
            break
    return Words(tuple(surfaces), tuple(starts), tuple(morphemes), behind) if surfaces else None


def ends_as_noun(text: str, analyzer: Analyzer) -> bool:
    """Check whether the last word of a text is a noun, not a verb or a noun with a particle."""
    surface = text.rpartition(" ")[2]
    return _is_noun(surface, text, analyzer.analyze(text), analyzer)


def _is_noun(surface: str, text: str, tokens: Sequence[Token], analyzer: Analyzer) -> bool:
    """Check whether the last word of `text` is a noun, in its context or with an object particle."""
    if surface.endswith(VERBAL_END) and _final(surface[-2:-1]) in PAST_OR_PRESENT:
        return False
    last = tokens[-1] if tokens else None
    if last and last[3] > len(text) - len(surface):
        tail = text[last[3] :]
        verbal = _is_inflected(text, last) and _is_adnominal(surface, tail)
        if len(tail) <= 1 and tail not in VERBAL_TAILS and not verbal:
            return True
        if tail in CONNECTIVE_TAILS:
            return False
    return spell(korean_tokens(surface, analyzer), surface)


def _is_inflected(text: str, token: Token) -> bool:
    """Check whether a token is the stem of a verb, which differs from the word in the text."""
    surface = text[token[2] : token[3]]
    return HANGUL.search(surface) is not None and surface != token[0]


def _is_adnominal(surface: str, tail: str) -> bool:
    """Check for a verb with ㄴ or ㄹ (지각된, 어려운, 줄일), not a noun with 은, 을 or 만."""
    return _final(surface[-1]) in {FINAL_N, FINAL_R} and tail not in CLOSING_PARTICLES


def _final(syllable: str) -> int:
    """Return the Unicode index of a syllable's final consonant; 0 for none."""
    return (ord(syllable) - FIRST_SYLLABLE) % FINALS if syllable else 0
