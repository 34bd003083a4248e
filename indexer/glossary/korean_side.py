"""Where the Korean term in front of a bracket begins.

    … 질문과 두 단계 이내로 연결된 초록만 검색증강생성(retrieval-augmented generation)
                                        ^ a word with a particle or an ending is no part of the term

Behind the last such word, the English side says how far back to go: to about as many syllables as its letters
make, or to the word that sounds like its first. A keyword of the paper is believed before that.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from indexer.analysis.tokens import Analyzer, Token
from indexer.glossary.english_forms import content_words, english_words, is_abbreviation
from indexer.glossary.pairs import HANGUL
from indexer.glossary.transliteration import SOUNDS_ALIKE, SOUNDS_MUCH_ALIKE, SOUNDS_THE_SAME, sounds_like

WINDOW = 90
MOST_WORDS = 8
LONGEST_QUOTED = 40
BORDER = re.compile(
    r"(?<![A-Z])\.|[,;:?!…\"“”‘’'`「」『』《》<>〈〉\[\](){}（）【】\n\r\t=+~/|·ㆍ→←※•○*&%①-⑳]|\s[-–—−]+\s|(?:기존|이상|이하|이후|이전|대신|동안)\s"
)
CLOSING = {"』": "『", "」": "「", "》": "《", "〉": "〈", ">": "<", '"': '"', "'": "'", "”": "“", "’": "‘"}
CLOSED = frozenset(")）]】%" + "".join(CLOSING))
# What the tagger drops at the end of a noun although it belongs to it.
NOUN_SUFFIXES = frozenset(
    "적 성 화 형 식 용 들 별 상 계 류 권 률 율 력 제 질 학 자 법 기 체 물 감 씨 님 풍 급 당 군".split()
)
GENITIVE = "의"
CLEAR_ENDING = re.compile(".+(?:는|를|에서|으로|에게|까지|부터|하여|하고|며|지만|한다|였다|했다)")
# Analyzers that leave particles on Korean words, and how such words end.
LEAVE_PARTICLES = frozenset({"english"})
LIKELY_ENDING = re.compile(".+(?:은|는|을|를|이라|와|만|의|된|한)")
NO_TERM = frozenset(
    "등 및 또는 혹은 이른바 소위 즉 예 것 수 중 때 바 측 명 건 곳 내 간 뒤 데 약 겸 "
    "약칭 별칭 일명 본명 통칭 애칭 속칭".split()
)
QUANTITY = re.compile(r"\d[\d.,]*(?:분|초|시|년|월|일|명|개|번|위|회|건)?")
NUMERAL = re.compile(r"\d|\b[IVX]+\b")
JOINED = re.compile(r"\bof\b|['’]s\b|\bfor\b")
FINALS, FINAL_N, FINAL_R = 28, 4, 8
FIRST_SYLLABLE = ord("가")

CLOSING_PARTICLES = frozenset("은 는 을 를 만".split())
CONNECTING = frozenset("의 와 과".split())

# Measured on lists of keywords in both languages.
LETTERS_PER_SYLLABLE = 3.4
SYLLABLES_PER_INITIAL = 2
SAME_NUMBER = 0.1  # what as many Korean as English words are worth, in the logarithm of the ratio of lengths
COMPLETE = 0.6  # of the expected syllables, if what was cut off may have been a part
PLAUSIBLE = 0.4  # of them in any case
SHORTEST_FOR_INITIALS, LONGEST_FOR_INITIALS = 0.75, 1.5
LONGEST_FOR_ONE_SYLLABLE = 7


@dataclass(frozen=True, slots=True)
class KoreanSide:
    """Where the term may begin, the likeliest first; `sure` if one paper is enough to believe it."""

    candidates: tuple[str, ...]
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Words:
    """The words in front of a bracket that may belong to the term, the last one first.

    `starts` are their offsets. What stands before them may be a part of the term all the same: a modifier (an
    adverb, a word with an adnominal ending) or a word with a connecting particle.
    """

    surfaces: tuple[str, ...]
    starts: tuple[int, ...]
    behind_modifier: bool = False
    behind_particle: bool = False


def korean_side(
    before: str, after: str, english: str, analyzer: Analyzer, keywords: Collection[str] = ()
) -> KoreanSide | None:
    """Find what `english`, in a bracket between `before` and `after`, translates.

    `keywords` are the paper's Korean ones, without spaces.
    """
    before = before.rstrip()
    if not before:
        return None
    if before[-1] in CLOSING:
        return _quoted(before)
    text, border = _span(before)
    if not HANGUL.search(text[-1:]):
        return None
    starts = [found.start() for found in re.finditer(r"\S+", text)][-MOST_WORDS:]
    for start in starts:
        if text[start:].replace(" ", "") in keywords:
            return KoreanSide((text[start:],))
    if border and border == CLOSING.get(after[:1]):  # the bracket stands within the quotes of a title
        return KoreanSide((text,)) if len(starts) < MOST_WORDS else None
    words = _words(text, english, analyzer)
    return _best_start(text, words, english) if words else None


def fits_initials(syllables: int, abbreviation: str, *, shortest: float = SHORTEST_FOR_INITIALS) -> bool:
    """Tell whether a Korean term is about as long as what an abbreviation stands for."""
    expected = SYLLABLES_PER_INITIAL * sum(letter.isalpha() for letter in abbreviation)
    return shortest * expected <= syllables <= LONGEST_FOR_INITIALS * expected


def _quoted(before: str) -> KoreanSide | None:
    """Take the whole of a title or a quoted word."""
    opened = before.rfind(CLOSING[before[-1]], 0, len(before) - 1)
    text = before[opened + 1 : -1].strip()
    if opened < 0 or not 1 < len(text) <= LONGEST_QUOTED or not HANGUL.search(text) or BORDER.search(text):
        return None
    return KoreanSide((text,))


def _span(before: str) -> tuple[str, str]:
    """Return the text back to the last border, and what stands there."""
    window = before[-WINDOW:]
    borders = list(BORDER.finditer(window))
    if borders:
        border = borders[-1].group()
        text = window[borders[-1].end() :]
        if border in CLOSED and not text[:1].isspace():  # a particle goes with what is closed
            text = text.partition(" ")[2]
        return text.strip(), border
    return (window if len(before) <= WINDOW else window.partition(" ")[2]).strip(), ""


def _words(text: str, english: str, analyzer: Analyzer) -> Words | None:
    """Go back word by word until one that is not part of the term; None if the last one is no noun."""
    tokens = analyzer.analyze(text)
    keeps_particles = analyzer.name in LEAVE_PARTICLES
    joined = JOINED.search(english) is not None
    targets = content_words(english)
    known = {word.lower() for word in english_words(english)}
    surfaces: list[str] = []
    starts: list[int] = []
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
                    or _inflected(text, inside[-1])
                    or (tail != "" and tail not in NOUN_SUFFIXES and not (joined and tail == GENITIVE))
                    or (not HANGUL.search(surface) and surface.lower() not in known)
                )
            else:
                ends = ends or len(tail) > 1 or QUANTITY.fullmatch(surface) is not None
        if ends:
            modifier = surface not in NO_TERM and (not inside or _adnominal(surface, tail))
            return Words(tuple(surfaces), tuple(starts), modifier, tail in CONNECTING) if surfaces else None
        surfaces.append(surface)
        starts.append(start)
        if len(surfaces) == MOST_WORDS:
            break
    return Words(tuple(surfaces), tuple(starts)) if surfaces else None


def _inflected(text: str, token: Token) -> bool:
    """Tell a verb's form from a noun: its token is not what stands in the text."""
    surface = text[token[2] : token[3]]
    return HANGUL.search(surface) is not None and surface != token[0]


def _adnominal(surface: str, tail: str) -> bool:
    """Tell a verb's form that ends in ㄴ or ㄹ (지각된, 어려운, 줄일) from a noun with 은, 을 or 만."""
    final = (ord(surface[-1]) - FIRST_SYLLABLE) % FINALS
    return final in {FINAL_N, FINAL_R} and tail not in CLOSING_PARTICLES


def _best_start(text: str, words: Words, english: str) -> KoreanSide:
    """Weigh the possible starts against the length and the sound of the English side."""
    short = is_abbreviation(english)
    letters = sum(letter.isalpha() for letter in english)
    targets = content_words(english)
    proper = all(target[0].isupper() for target in targets)
    limit = letters if short else len(english_words(english))
    surfaces = words.surfaces[: limit + 1]
    expected = letters * SYLLABLES_PER_INITIAL if short else letters / LETTERS_PER_SYLLABLE
    costs = list(_costs(surfaces, [] if short else targets, expected))
    best = min(range(len(costs[:limit])), key=lambda index: (costs[index], -index))
    alike = [
        index
        for index, surface in enumerate(surfaces)
        if sounds_like(surface, targets[0], SOUNDS_ALIKE if proper or index < limit else SOUNDS_MUCH_ALIKE)
    ]
    if proper and not alike:
        alike = [
            index
            for index, surface in enumerate(surfaces[:limit])
            if any(sounds_like(surface, target) for target in targets)
        ]
    best = max(alike, default=best)
    while best + 1 < len(words.surfaces) and _shares_name(words.surfaces[best + 1], targets):
        best += 1
    rivals = [index for index in range(len(costs)) if index != best]
    candidates = tuple(text[words.starts[index] :] for index in (best, *rivals))
    syllables = len(candidates[0].replace(" ", ""))
    if _sounds_alike(candidates[0], english):
        sure = True
    elif alike and not short:
        sure = not _is_name_in_part(words.surfaces[: best + 1], targets)
    else:
        sure = _is_sure(words, best, syllables, english, expected)
    return KoreanSide(candidates, sure)


def _costs(surfaces: Sequence[str], targets: Sequence[str], expected: float) -> Iterator[float]:
    """Yield how far each start's length is from the expected, less the words that sound alike."""
    syllables = 0
    unmatched = list(targets)
    for count, surface in enumerate(surfaces, 1):
        match = next((target for target in unmatched if sounds_like(surface, target)), None)
        if match is None:
            syllables += len(surface)
        else:
            unmatched.remove(match)
            expected -= len(match) / LETTERS_PER_SYLLABLE
        yield abs(math.log((syllables + 1) / (expected + 1))) - (SAME_NUMBER if count == len(targets) else 0)


def _shares_name(surface: str, targets: Sequence[str]) -> bool:
    """Tell a word that stands on the English side as it is: SGLT2, K, 제2형 and 2."""
    written = {found.lower() for found in re.findall(r"[A-Za-z][A-Za-z0-9]*|\d+", surface)}
    return not written.isdisjoint(target.lower().strip(".") for target in targets)


def _sounds_alike(korean: str, english: str) -> bool:
    """Tell whether all of a term is written as it sounds (산살바도르, San Salvador)."""
    return sounds_like(korean.replace(" ", ""), "".join(english_words(english)), SOUNDS_THE_SAME)


def _is_name_in_part(surfaces: Sequence[str], targets: Sequence[str]) -> bool:
    """Tell 다윈 (Charles Darwin), 테라피 (phage therapy): all of it sounds alike, but only with a part."""
    alike = [any(sounds_like(surface, target) for target in targets) for surface in surfaces]
    return all(alike) and len(alike) < len(targets) and not sounds_like(surfaces[-1], targets[0])


def _is_sure(words: Words, best: int, syllables: int, english: str, expected: float) -> bool:
    if is_abbreviation(english):
        return best == len(words.starts) - 1 and fits_initials(
            syllables, english, shortest=1.0 if words.behind_modifier else SHORTEST_FOR_INITIALS
        )
    if len(english_words(english)) > 1:
        cut_off = (words.behind_modifier or words.behind_particle) and best == len(words.starts) - 1
        return syllables >= (COMPLETE if cut_off else PLAUSIBLE) * expected
    if any(letter.isupper() for letter in english[1:]):  # OpenDocument: a name, hardly a translation
        return False
    return syllables > 1 or (len(words.starts) == 1 and len(english) <= LONGEST_FOR_ONE_SYLLABLE)
