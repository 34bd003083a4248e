"""Sign: a name that no passage contains: abbreviation, Latin name, Hangul place, word of foreign origin.

Claim "trout in Bergen" for the passage "trout in Oslo".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from base.patterns import lazy_regex
from generator.checking.statements.substances import drugs, substances
from generator.checking.text.clauses import opens_sentence
from generator.checking.text.lexicon import table
from indexer.analysis.tokens import TaggedWord
from indexer.corpora.papers import Language
from indexer.glossary.patterns.abbreviations import LONGEST_SHORT_FORM
from indexer.glossary.transliteration import SOUNDS_MUCH_ALIKE, sounds_like

# Capitals after the first letter, or a capital and a digit.
ABBREVIATION = lazy_regex(r"(?<![A-Za-z0-9.])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*")
CAPITALISED = lazy_regex(r"(?<![A-Za-z])[A-ZÀ-Þ][a-zß-ÿ]{2,}(?![A-Za-z0-9])")
GLOSS = lazy_regex(r"[가-힣]\s?\([^()]*$")  # 한반도(Korean Peninsula): the Hangul before it is compared
Translated = Callable[[str], bool | None]
LATIN_WORD = lazy_regex(r"[A-Za-zÀ-ÿ]{3,}")
# Panax ginseng, Leuconostoc citreum: Latin in every language.
BINOMIAL = lazy_regex(r"(?<![A-Za-z])([A-Z][a-z]{3,}) ([a-z]{3,}(?:us|um|is|ans|ae|ii|ens|a|i|um))(?![a-z])")
HANGUL_WORD = lazy_regex("[가-힣]+")
# Names that a text may leave out; the months are compared as numbers.
EVERYWHERE = frozenset(
    "korea korean koreans south north east west east central new january february march april may june "
    "july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
EVERYWHERE_KOREAN = set("한국 대한민국 우리나라 국내 한반도 조선 남한 한글 한국어 국어".split())
FORMS = [frozenset(row) for row in table("countries.tsv")]
REST_OF_WORD = lazy_regex(r"[a-z]*+[\s-]++")
SMALL_WORD = lazy_regex(r"(?:of|the|and|for|in|with)\s++")
LEAST_STEM = 4
LEAST_NAME = 2  # characters
# A noun before such an ending is a place (영덕군, 낙동강, 태백산맥), except for groups such as 대조군.
PLACE = lazy_regex(
    "([가-힣]{2,4})(특별시|광역시|고속도로|산맥|평야|반도|군도|해협|대학교|도서관|시|군|읍|강)"
    "(?=(?:과|와|의|에|에서|은|는|이|가|을|를|로|으로|및|까지|부터|에는|에서는|에서만)?(?![가-힣]))"
)
GROUPS = lazy_regex(
    "(?:대조|실험|시험|처리|비교|통제|사용|투여|위약|중재|노출|개입|교육|운동|치료|환자|위험|수술|관찰|비교)군"
    "|(?:다시|역시|제시|표시|일시|실시|즉시|수시|동시|무시|지시|명시|게시|감시|응시|전시|건강|보강|향상)$"
)
# Syllables that are frequent in loanwords and rare in other words.
FOREIGN = set(
    "스크트프드그브즈츠르므느흐키케코쿠카커티테토투타터틴톤톡틱텍템텔텐트피페포푸퍼펜핀플펩레로루러렌론룬렐롤룰릴렘롬렉릭랩렙롭"
    "맙닙넨눈븐블벨델딜젠젤슘륨튬늄듐윰엘옥움"
)
LEAST_FOREIGN = 0.3
LEAST_SYLLABLES = 4
PIECES = 3  # of a word that is not in the dictionary
INFLECTED = {"EC", "EF", "ETM", "ETN"}
PARTICLES = lazy_regex(
    "(?:에서는|에서도|으로는|으로도|이라는|에서|에게|으로|까지|부터|보다|처럼|이나|에는|에도|과는|와는|은|는|이|가|을|를|의|에|로|과|와|도|만|나)$"
)


def abbreviations(text: str) -> set[str]:
    """Return the abbreviations of a text: PCR, LiDAR, NMC811, pH."""
    return set(ABBREVIATION.findall(text))


def missing_names(
    claim: str,
    passage: str,
    language: Language,
    tagged: Sequence[TaggedWord],
    translated: Translated,
    *,
    cross_lingual: bool,
) -> Iterator[str]:
    """Yield the names of a claim that the passages do not contain.

    Args:
        claim, passage: composed (NFC) texts; the passages are joined.
        language: of the claim.
        tagged: the claim's words with their parts of speech.
        translated: returns True if the passages contain a translation of a word or need not, False if it is
            missing, and None if the glossary has none.
        cross_lingual: whether the passages are in the other language.
    """
    plain = passage.casefold()
    for name in sorted(abbreviations(claim)):
        if not _contains(name, plain) and not _initials_in(name, plain):
            yield name
    if language == "ko":
        yield from _missing_hangul(claim, passage, tagged, translated, cross_lingual=cross_lingual)
    yield from _missing_substances(claim, passage, translated, drugs if cross_lingual else substances)
    yield from _missing_species(claim, passage, translated)
    yield from _missing_capitalised(claim, passage, language, translated, cross_lingual=cross_lingual)


def same_name(first: str, second: str) -> bool:
    """Return True if two names are one, in one script or in two: vedolizumab and 베돌리주맙."""
    first, second = first.casefold(), second.casefold()
    if first in second or second in first:
        return True
    if first.isascii() == second.isascii():
        return False
    korean, latin = (second, first) if first.isascii() else (first, second)
    return sounds_like(korean, latin, SOUNDS_MUCH_ALIKE)


def _missing_substances(
    claim: str, passage: str, translated: Translated, named: Callable[[str], list[str]]
) -> Iterator[str]:
    """Yield drugs and chemicals in lower case or Hangul that the passages lack in both scripts."""
    plain = passage.casefold()
    others = named(passage)
    for name in named(claim):
        # Capitalised names have other rules.
        singular = name.casefold().removesuffix("s")
        if name[0].isupper() or singular in plain or translated(name) is True:
            continue
        words = LATIN_WORD.findall(passage) if not name.isascii() else HANGUL_WORD.findall(passage)
        if not any(same_name(name, other) for other in (*others, *words)):
            yield name


def _missing_species(claim: str, passage: str, translated: Translated) -> Iterator[str]:
    """Yield binomials; they count only if the passages name another species."""
    own = {match[0] for match in BINOMIAL.finditer(claim)}
    others = {match[0] for match in BINOMIAL.finditer(passage)} - own
    for name in sorted(own):
        genus = name.partition(" ")[0]
        if others and genus not in passage and translated(name) is not True:
            yield name


def _missing_capitalised(
    claim: str, passage: str, language: Language, translated: Translated, *, cross_lingual: bool
) -> Iterator[str]:
    """Yield capitalised words of a claim that the passages lack in both scripts."""
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
        # Most names have translations: a name is missing only if the glossary has its Korean spelling.
        if not cross_lingual or language == "ko" or translated(match[0]) is False:
            yield match[0]


def _missing_hangul(
    claim: str,
    passage: str,
    tagged: Sequence[TaggedWord],
    translated: Translated,
    *,
    cross_lingual: bool,
) -> Iterator[str]:
    """Yield Hangul places, proper nouns and loanwords of a claim that the passages lack in both scripts."""
    words = {word.casefold() for word in LATIN_WORD.findall(passage)}
    capitalised = {match[0].casefold() for match in CAPITALISED.finditer(passage)}
    inflected = {end for tag, _, end in tagged if tag.rpartition("+")[2] in INFLECTED}
    proper = _proper_nouns(claim, tagged)
    # The tag may be wrong: it counts only if the passages have a name that the claim lacks.
    if cross_lingual and not _has_other_name(claim, passage):
        proper = {word for word in proper if translated(word) is False}
    seen: set[str] = set()
    for match in HANGUL_WORD.finditer(claim):
        stem = PARTICLES.sub("", match[0]) or match[0]
        place = PLACE.match(match[0])
        if place and GROUPS.search(place[0]):
            place = None
        name = place[1] if place else stem
        if match.end() in inflected or name in seen or len(name) < LEAST_NAME:
            continue
        if name in passage or stem in passage:
            continue
        seen.add(name)
        end = match.start() + len(stem)
        foreign = _is_foreign(stem, [tag for tag, begin, _ in tagged if match.start() <= begin < end])
        if {name, stem} & EVERYWHERE_KOREAN or not (place or stem in proper or foreign):
            continue
        latin = words if foreign else capitalised
        if any(sounds_like(name, word) or sounds_like(stem, word) for word in latin):
            continue
        if _form_in(stem, words, passage) or True in {translated(stem), translated(name)}:
            continue
        yield place[0] if place else stem


def _proper_nouns(claim: str, tagged: Sequence[TaggedWord]) -> set[str]:
    """Return the proper nouns before a particle; other tags, as of 가교 바인더, are most often wrong."""
    return {
        claim[start:end]
        for (tag, start, end), (following, *_) in pairwise(tagged)
        if tag == "NNP" and end - start >= LEAST_NAME and following.startswith("J")
    }


def _has_other_name(claim: str, passage: str) -> bool:
    """Return True if a passage in English has a capitalised name that the claim lacks."""
    own = set(HANGUL_WORD.findall(claim))
    return any(
        not opens_sentence(passage, match.start())
        and match[0].casefold() not in EVERYWHERE
        and match[0] not in claim
        and not any(sounds_like(word, match[0].casefold()) for word in own)
        for match in CAPITALISED.finditer(passage)
    )


def _is_foreign(word: str, pieces: Sequence[str]) -> bool:
    """Return True if a Hangul word is not in the dictionary and is spelled like a loanword."""
    if len(word) < LEAST_SYLLABLES or sum(each in FOREIGN for each in word) < LEAST_FOREIGN * len(word):
        return False
    return "UNKNOWN" in pieces or len([piece for piece in pieces if piece not in {"XSN", "XPN"}]) >= PIECES


def _one_name(first: str, second: str) -> bool:
    """Return True if two Latin words are forms of one name: Korea and Korean, China and Chinese."""
    if first == second:
        return True
    least = min(len(first), len(second)) - 1
    return least >= LEAST_STEM and first[:least] == second[:least]


def _form_in(name: str, words: set[str], text: str) -> bool:
    """Return True if a text has another form of a country's name (`countries.tsv`)."""
    for forms in FORMS:
        if name in forms:
            return any(form in words or form in text for form in forms)
    return False


def _initials_in(name: str, plain: str) -> bool:
    """Return True if the passages contain the long form of an abbreviation: loan-to-value for LTV."""
    letters = name.rstrip("s")
    if not letters.isupper() or not letters.isalpha():
        return False
    if not LEAST_NAME <= len(letters) <= LONGEST_SHORT_FORM:
        return False
    first, others = letters[0].lower(), letters[1:].lower()
    # Ends of the matches of the letters so far: each position is tried once per letter.
    ends = {match.end() for match in re.finditer(rf"\b{first}", plain)}
    for letter in others:
        starts = {match.end() for end in ends if (match := REST_OF_WORD.match(plain, end))}
        starts |= {match.end() for start in starts if (match := SMALL_WORD.match(plain, start))}
        ends = {start + 1 for start in starts if plain.startswith(letter, start)}
    return bool(ends)


def _contains(name: str, plain: str) -> bool:
    """Return True if a case-folded text contains a name as a separate word, singular or plural."""
    singular = name[:-1] if name.endswith("s") and name[:-1].isupper() else name
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(singular.casefold())}s?(?![a-z0-9])", plain))
