"""Names."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from generator.checking.statements.substances import drugs, substances
from generator.checking.text.clauses import opens_sentence
from generator.checking.text.lexicon import table
from indexer.analysis.tokens import TaggedWord
from indexer.corpora.papers import Language
from indexer.glossary.patterns.abbreviations import LONGEST_SHORT_FORM
from indexer.glossary.transliteration import SOUNDS_MUCH_ALIKE, sounds_like

# Capitals after the first letter, or a capital and a digit.
ABBREVIATION = re.compile(r"(?<![A-Za-z0-9.])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*")
CAPITALISED = re.compile(r"(?<![A-Za-z])[A-ZÀ-Þ][a-zß-ÿ]{2,}(?![A-Za-z0-9])")
GLOSS = re.compile(r"[가-힣]\s?\([^()]*$")  # 한반도(Korean Peninsula): the Hangul before it is read
Knows = Callable[[str], bool | None]
LATIN_WORD = re.compile(r"[A-Za-zÀ-ÿ]{3,}")
# Panax ginseng, Leuconostoc citreum: in Latin in every language.
BINOMIAL = re.compile(r"(?<![A-Za-z])([A-Z][a-z]{3,}) ([a-z]{3,}(?:us|um|is|ans|ae|ii|ens|a|i|um))(?![a-z])")
HANGUL_WORD = re.compile("[가-힣]+")
# What a text is about without saying so; the months are read with the numbers.
EVERYWHERE = frozenset(
    "korea korean koreans south north east west east central new january february march april may june "
    "july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
EVERYWHERE_KOREAN = set("한국 대한민국 우리나라 국내 한반도 조선 남한 한글 한국어 국어".split())
FORMS = [frozenset(row) for row in table("countries.tsv")]
REST_OF_WORD = re.compile(r"[a-z]*+[\s-]++")
SMALL_WORD = re.compile(r"(?:of|the|and|for|in|with)\s++")
LEAST_STEM = 4
LEAST_NAME = 2  # characters
# 영덕군, 낙동강, 태백산맥: a noun before such an ending is a place; of 대조군 and the like there are groups.
PLACE = re.compile(
    "([가-힣]{2,4})(특별시|광역시|고속도로|산맥|평야|반도|군도|해협|대학교|도서관|시|군|읍|강)"
    "(?=(?:과|와|의|에|에서|은|는|이|가|을|를|로|으로|및|까지|부터|에는|에서는|에서만)?(?![가-힣]))"
)
GROUPS = re.compile(
    "(?:대조|실험|시험|처리|비교|통제|사용|투여|위약|중재|노출|개입|교육|운동|치료|환자|위험|수술|관찰|비교)군"
    "|(?:다시|역시|제시|표시|일시|실시|즉시|수시|동시|무시|지시|명시|게시|감시|응시|전시|건강|보강|향상)$"
)
# Syllables that words of foreign origin are written with and others hardly are.
FOREIGN = set(
    "스크트프드그브즈츠르므느흐키케코쿠카커티테토투타터틴톤톡틱텍템텔텐트피페포푸퍼펜핀플펩레로루러렌론룬렐롤룰릴렘롬렉릭랩렙롭"
    "맙닙넨눈븐블벨델딜젠젤슘륨튬늄듐윰엘옥움"
)
LEAST_FOREIGN = 0.3
LEAST_SYLLABLES = 4
PIECES = 3  # of a word that the dictionary does not know
INFLECTED = {"EC", "EF", "ETM", "ETN"}
PARTICLES = re.compile(
    "(?:에서는|에서도|으로는|으로도|이라는|에서|에게|으로|까지|부터|보다|처럼|이나|에는|에도|과는|와는|은|는|이|가|을|를|의|에|로|과|와|도|만|나)$"
)


def abbreviations(text: str) -> set[str]:
    """Return what is written in capitals: PCR, LiDAR, NMC811, pH."""
    return set(ABBREVIATION.findall(text))


def missing_names(
    claim: str,
    passage: str,
    language: Language,
    tagged: Sequence[TaggedWord],
    knows: Knows,
    *,
    cross_lingual: bool,
) -> Iterator[str]:
    """Yield the names of a sentence that the source does not hold.

    Args:
        sentence, source: composed (NFC).
        tagged: the sentence's words with their parts of speech.
        knows: whether the glossary excuses a word: its other side stands in the source, or may be said
            in other words; None where the glossary does not know it.
        across: whether the source is in the other language.
    """
    plain = passage.casefold()
    for name in sorted(abbreviations(claim)):
        if not _stands_in(name, plain) and not _initials_in(name, plain):
            yield name
    if language == "ko":
        yield from _missing_hangul(claim, passage, tagged, knows, cross_lingual=cross_lingual)
    yield from _missing_substances(claim, passage, knows, drugs if cross_lingual else substances)
    yield from _missing_species(claim, passage, knows)
    yield from _missing_capitalised(claim, passage, language, knows, cross_lingual=cross_lingual)


def same_name(first: str, second: str) -> bool:
    """Return whether two names are one, in one script or in two: vedolizumab and 베돌리주맙."""
    first, second = first.casefold(), second.casefold()
    if first in second or second in first:
        return True
    if first.isascii() == second.isascii():
        return False
    korean, latin = (second, first) if first.isascii() else (first, second)
    return sounds_like(korean, latin, SOUNDS_MUCH_ALIKE)


def _missing_substances(
    claim: str, passage: str, knows: Knows, named: Callable[[str], list[str]]
) -> Iterator[str]:
    passage_terms = passage.casefold()
    others = named(passage)
    for name in named(claim):
        # Capitals are read by the other rules.
        plain = name.casefold().removesuffix("s")
        if name[0].isupper() or plain in passage_terms or knows(name) is True:
            continue
        words = LATIN_WORD.findall(passage) if not name.isascii() else HANGUL_WORD.findall(passage)
        if not any(same_name(name, other) for other in (*others, *words)):
            yield name


def _missing_species(claim: str, passage: str, knows: Knows) -> Iterator[str]:
    """Yield binomials; they count where the source names another species."""
    own = {match[0] for match in BINOMIAL.finditer(claim)}
    others = {match[0] for match in BINOMIAL.finditer(passage)} - own
    for name in sorted(own):
        genus = name.partition(" ")[0]
        if others and genus not in passage and knows(name) is not True:
            yield name


def _missing_capitalised(
    claim: str, passage: str, language: Language, knows: Knows, *, cross_lingual: bool
) -> Iterator[str]:
    words = {word.casefold() for word in LATIN_WORD.findall(passage)}
    hangul = set(HANGUL_WORD.findall(passage))
    species = {word for match in BINOMIAL.finditer(claim) for word in match.groups()}
    for match in CAPITALISED.finditer(claim):
        name, start = match[0].casefold(), match.start()
        excused = GLOSS.search(claim[:start]) if language == "ko" else opens_sentence(claim, start)
        if excused or name in EVERYWHERE or match[0] in species:
            continue
        if any(_one_name(name, word) for word in words) or _form_in(name, words, passage.casefold()):
            continue
        if (cross_lingual or language == "ko") and any(
            sounds_like(word, name, SOUNDS_MUCH_ALIKE) for word in hangul
        ):
            continue
        # Most names are translated: only one whose Korean spelling the glossary knows can be missed.
        if not cross_lingual or language == "ko" or knows(match[0]) is False:
            yield match[0]


def _missing_hangul(
    claim: str,
    passage: str,
    tagged: Sequence[TaggedWord],
    knows: Knows,
    *,
    cross_lingual: bool,
) -> Iterator[str]:
    words = {word.casefold() for word in LATIN_WORD.findall(passage)}
    # A noun that a particle follows: in 가교 바인더 and the like the tag is most often wrong.
    proper = {
        claim[start:end]
        for (tag, start, end), (following, *_) in pairwise(tagged)
        if tag == "NNP" and end - start >= LEAST_NAME and following.startswith("J")
    }
    inflected = {end for tag, _, end in tagged if tag.rpartition("+")[2] in INFLECTED}
    capitalised = {match[0].casefold() for match in CAPITALISED.finditer(passage)}
    own = set(HANGUL_WORD.findall(claim))
    # A noun may be tagged as a name that is none: it counts where the source has a name that is not in the
    # sentence either.
    if cross_lingual and not any(
        not opens_sentence(passage, match.start())
        and match[0].casefold() not in EVERYWHERE
        and match[0] not in claim
        and not any(sounds_like(word, match[0].casefold()) for word in own)
        for match in CAPITALISED.finditer(passage)
    ):
        proper = {word for word in proper if knows(word) is False}
    seen: set[str] = set()
    for match in HANGUL_WORD.finditer(claim):
        stem = PARTICLES.sub("", match[0]) or match[0]
        place = PLACE.match(match[0])
        if place and GROUPS.search(place[0]):
            place = None
        name = place[1] if place else stem
        if (
            match.end() in inflected
            or name in seen
            or len(name) < LEAST_NAME
            or name in passage
            or stem in passage
        ):
            continue
        seen.add(name)
        end = match.start() + len(stem)
        foreign = _is_foreign(stem, [tag for tag, begin, _ in tagged if match.start() <= begin < end])
        if {name, stem} & EVERYWHERE_KOREAN or not (place or stem in proper or foreign):
            continue
        latin = words if foreign else capitalised
        if any(sounds_like(name, word) or sounds_like(stem, word) for word in latin):
            continue
        if _form_in(stem, words, passage) or True in {knows(stem), knows(name)}:
            continue
        yield place[0] if place else stem


def _is_foreign(word: str, pieces: Sequence[str]) -> bool:
    """Return whether a Hangul word is no word of the dictionary and is written as a foreign one sounds."""
    if len(word) < LEAST_SYLLABLES or sum(each in FOREIGN for each in word) < LEAST_FOREIGN * len(word):
        return False
    return "UNKNOWN" in pieces or len([piece for piece in pieces if piece not in {"XSN", "XPN"}]) >= PIECES


def _one_name(first: str, second: str) -> bool:
    """Return whether two Latin words are forms of one name: Korea and Korean, China and Chinese."""
    if first == second:
        return True
    least = min(len(first), len(second)) - 1
    return least >= LEAST_STEM and first[:least] == second[:least]


def _form_in(name: str, words: set[str], text: str) -> bool:
    for forms in FORMS:
        if name in forms:
            return any(form in words or form in text for form in forms)
    return False


def _initials_in(name: str, plain: str) -> bool:
    """Return whether the words that an abbreviation stands for are in the source: loan-to-value, LTV."""
    letters = name.rstrip("s")
    if not letters.isupper() or not letters.isalpha():
        return False
    if not LEAST_NAME <= len(letters) <= LONGEST_SHORT_FORM:
        return False
    first, others = letters[0].lower(), letters[1:].lower()
    # Where the letters read so far may end: each text position is tried once a letter.
    ends = {match.end() for match in re.finditer(rf"\b{first}", plain)}
    for letter in others:
        starts = {match.end() for end in ends if (match := REST_OF_WORD.match(plain, end))}
        starts |= {match.end() for start in starts if (match := SMALL_WORD.match(plain, start))}
        ends = {start + 1 for start in starts if plain.startswith(letter, start)}
    return bool(ends)


def _stands_in(name: str, plain: str) -> bool:
    """Return whether a name stands in a case-folded text as a word of its own, singular or plural."""
    singular = name[:-1] if name.endswith("s") and name[:-1].isupper() else name
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(singular.casefold())}s?(?![a-z0-9])", plain))
