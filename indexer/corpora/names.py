"""Names of authors: the parts of one name, and the names of a list.

Names in Hangul: 곽소율 is 곽 and 소율, 남궁민재 is 남궁 and 민재. Names in scripts with capitals: Ludwig van
Beethoven, Müller EM. Names of organizations are never split.
"""

import re
import unicodedata
from itertools import takewhile
from typing import NamedTuple

from base.letters import HANGUL

# Family names of one syllable in the census of 2015, and their northern spellings.
FAMILY_NAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여"
    "추도소석선설마길연위표명기반라왕금옥육인맹제모탁국어은편용예봉경사부가복태목형계피두감음빈동온호범좌팽승간상"
    "시갈단견당화창리림로량려련룡"
)
# The first syllable of these is rarely a family name before such a given name: 남궁원 is 남궁 and 원.
LONG_FAMILY_NAMES = frozenset(("남궁", "제갈", "사공", "독고", "동방", "망절", "어금"))
# With three syllables, 황보라 is more often 황 and 보라; with four, 황보민재 is 황보 and 민재.
ALL_LONG = LONG_FAMILY_NAMES | {"황보", "선우", "서문"}
LONGEST_GIVEN = 3  # syllables
PARTICLES = frozenset(
    "von vom zu zum zur van der den de ter ten 't te op af av da do dos das di du del della dello dei degli "
    "dalla la le los las lo bin bint ibn abu".split()
)
# With a capital they are part of the family name: Robert De Niro.
ALL_PARTICLES = PARTICLES | {particle.capitalize() for particle in PARTICLES} | {"El", "St.", "Saint"}
SUFFIXES = frozenset("Jr Jr. Sr Sr. II III IV 2nd 3rd 4th".split())
KOREAN_OR_VIETNAMESE = frozenset(
    "Kim Lee Yi Rhee Park Pak Choi Choe Jung Jeong Chung Kang Cho Jo Yoon Yun Jang Chang Lim Im Han Oh Seo "
    "Suh Shin Sin Kwon Hwang Ahn An Song Ryu Yoo Yu Jeon Jun Hong Ko Go Moon Mun Yang Son Sohn Bae Baek Paik "
    "Heo Hur Nam Shim Sim Noh Roh Ha Kwak Gwak Sung Seong Cha Joo Ju Woo Koo Gu Min Na Jin Ji Um Eom Chae "
    "Won Cheon Bang Kong Hyun Ham Byun Yeo Nguyen Tran Pham Huynh Hoang Phan Vu Vo Dang Bui Ngo Ly".split()
)
HYPHENATED = re.compile("[A-Z][a-z]+-[a-z]+")  # Min-su
INITIALS = re.compile(r"[A-Z]{1,3}|(?:[^\W\d_]\.-?)+")
VOWEL = re.compile("[AEIOUY]")
MOST_WORDS = 8
ORGANIZATION = re.compile(
    r"\b(?i:academy|administration|agency|alliance|association|authority|board|bureau|cent(?:er|re)s?|club"
    r"|collaborat(?:ion|ors)|college|commission|committee|community|company|conference|congress|consortium"
    r"|corporation|council|department|editors|editorial|faculty|federation|forum|foundation|government|group"
    r"|hospital|inc|initiative|institute?|institution|investigators|laborator(?:y|ies)|league|library|ltd"
    r"|ministry|museum|network|office|organi[sz]ation|panel|program(?:me)?|project|school|secretariat|service"
    r"|society|staff|taskforce|team|trust|union|universi(?:ty|dade?|tät|té)|université|workshop|and|of|for|the)\b"
    r"|[&/;:@()\[\]0-9]"
    r"|(?:학회|협회|협의회|연구회|위원회|연구(?:원|소|실|팀|단)|대학교?|대학원|학교|학부|학과|병원|센터|재단|공사"
    r"|공단|은행|정부|교육부|교육청|통계청|기상청|환경부|진흥원|개발원|정보원|진흥청|도서관|박물관|편집[부팀]"
    r"|사무국|주식회사|조합|연맹|연합회|본부|사업단|추진단|출판사|신문사|방송)$"
)
# Lists of names.
OTHERS = re.compile(
    r"(?:(?<![\s,;|])[\s,;|]++(?:et al\b\.?|and others|외)|(?<!\s)\s*+외\s*\d+\s*[인명])\s*$", re.IGNORECASE
)
ROLE = re.compile(r"(?<=[가-힣])\s+(?:저|지음|공저|편저|편|엮음|옮김|역|감수|글)$")
MARK = re.compile(r"(?<=[가-힣])\s*[*†‡§\d]+\)?(?=\s*(?:[,;|·/]|$))")  # of a footnote
IN_BRACKETS = re.compile(r"\s*\(([^()]*)\)")
# Brackets protect the separators in them.
SEMICOLON, COMMA, KOREAN_SEPARATOR = (
    re.compile(rf"\s*[{signs}](?![^()]{{0,100}}\))\s*") for signs in (";；|", ",，、", ",，、·ㆍ/")
)
LAST_NAME = re.compile(r",\s*(?:and|&)\s+")  # before the last name of a list: Kim, A., & Lee, B.
# A whole name in Hangul or Chinese characters.
EAST_ASIAN_NAME = re.compile(r"[가-힣]{2,5}|[\u4e00-\u9fff\uf900-\ufaff]{2,4}")


class AuthorName(NamedTuple):
    """A name by the parts of CSL 1.0.2; a name that cannot be split is in `family` alone.

    `particle` is before the family name (van, de la), `suffix` after the name (Jr., III).
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""


def is_organization(name: str) -> bool:
    """Check for a word of an organization, a connective, or a sign that no person's name has."""
    return ORGANIZATION.search(name) is not None


def is_family_name(word: str) -> bool:
    """Check for a Korean family name in Hangul."""
    return word in FAMILY_NAMES or word in ALL_LONG


def split_name(text: str) -> AuthorName:
    """Split the name of one author.

    "Family, Given" and "Family, Given, Suffix" are split at the commas. Without a comma, a name in Hangul is
    split by the list of Korean family names, a name in Latin, Cyrillic or Greek letters before its last word
    or its particle. Names of organizations, single names and names in other scripts stay whole.
    """
    name = unicodedata.normalize("NFC", text).strip()
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and parts[0] and parts[1:] == [""]:  # the form of RIS for an unsplit name
        parts.pop()
        name = parts[0]
    if not all(parts) or is_organization(name):
        return AuthorName(name)
    suffixes = [part for part in parts[1:] if part in SUFFIXES]
    others = [parts[0], *(part for part in parts[1:] if part not in SUFFIXES)]
    if len(suffixes) <= 1 and len(others) == 1:
        split = split_korean(others[0]) if HANGUL.search(name) else _split_western(others[0].split())
        if split:
            return split._replace(suffix=suffixes[0]) if suffixes else split
    if len(suffixes) > 1 or len(others) != 2:  # noqa: PLR2004 - family and given name
        return AuthorName(name)
    particles, families = _split_particle(others[0].split())
    behind, given = _split_particle(others[1].split()[::-1])  # Beethoven, Ludwig van
    if len(families) > 1 and families[-1] in SUFFIXES and not suffixes:
        suffixes = [families.pop()]
    shown = " ".join(given[::-1]) if behind else others[1]
    return AuthorName(" ".join(families), shown, " ".join(particles or behind[::-1]), "".join(suffixes))


def _split_particle(words: list[str]) -> tuple[list[str], list[str]]:
    """Split ["van", "der", "Berg"] after its particles; without other words nothing is split."""
    particles = list(takewhile(PARTICLES.__contains__, words))
    return ([], words) if len(particles) == len(words) else (particles, words[len(particles) :])


def split_korean(name: str) -> AuthorName | None:
    """Split a name in Hangul; None if no known family name fits.

    A space may follow or, in the Western order, precede the family name.
    """
    words = name.split()
    if not all(re.fullmatch("[가-힣]+", word) for word in words):
        return None
    if len(words) == 1 and name not in ALL_LONG:
        long = name[:2] in (ALL_LONG if len(name) > 3 else LONG_FAMILY_NAMES)  # noqa: PLR2004
        words = [name[: 1 + long], name[1 + long :]]
    if len(words) != 2:  # noqa: PLR2004 - family and given name
        return None
    for family, given in (words, words[::-1]) if " " in name else [words]:
        if is_family_name(family) and 0 < len(given) <= LONGEST_GIVEN:
            return AuthorName(family, given)
    return None


def _split_western(words: list[str]) -> AuthorName | None:
    """Split a name whose family name is last, or first before initials; None if it stays whole."""
    suffix = words.pop() if words[-1] in SUFFIXES else ""
    if not 1 < len(words) <= MOST_WORDS or not all(map(_is_name_word, words)) or all(map(str.islower, words)):
        return None
    if begin := _family_first(words):
        family, given = words[:begin], words[begin:]
    else:
        if words[0] in PARTICLES:  # a family name alone
            return None
        last = len(words) - 1  # or its first particle
        begin = next((place for place in range(1, last) if words[place] in ALL_PARTICLES), last)
        given, family = words[:begin], words[begin:]
    if all(word in PARTICLES for word in family):
        return None
    particles, family = _split_particle(family)
    return AuthorName(" ".join(family), " ".join(given), " ".join(particles), suffix)


def _is_name_word(word: str) -> bool:
    letter = word.lstrip("'’ʻ‘")[:1]
    return letter.isalpha() and letter.lower() != letter.upper()


def _is_initials(name: str) -> bool:
    return INITIALS.fullmatch(name.replace(" ", "")) is not None


def _family_first(words: list[str]) -> int:
    """Return the number of words of a family name that comes first; 0 if it comes last."""
    *first, last = words
    # Müller EM, as in PubMed; KIM with its vowel is a name.
    short = len(last) < 3 or "." in last or not VOWEL.search(last)  # noqa: PLR2004
    if _is_initials(last) and short and not all(map(_is_initials, first)):
        return len(first)
    if len(first) == 1 and first[0] in KOREAN_OR_VIETNAMESE and HYPHENATED.fullmatch(last):  # Kim Min-su
        return 1
    capitals = first[0].isupper() and len(first[0]) > 2 and VOWEL.search(first[0])  # noqa: PLR2004
    return 1 if capitals and not any(map(str.isupper, words[1:])) else 0  # KIM Minsu


def names_in(text: str) -> list[str]:
    """Split a list of names, without "et al." and affiliations and marks of Korean names.

    Semicolons and bars always separate. A comma separates whole names ("김철수, 이영희", "Kim Chulsoo, Lee
    Younghee"), or pairs of family name and initials ("Gatica, G.N., Sequeira, F.A."); otherwise it is within
    a single name.
    """
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    parts = SEMICOLON.split(MARK.sub("", OTHERS.sub("", composed)))
    names = [name.strip().removesuffix(",").strip() for part in parts for name in _split_at_commas(part)]
    is_decomposed = composed != text == unicodedata.normalize("NFD", text)
    return [unicodedata.normalize("NFD", name) if is_decomposed else name for name in names if name]


def _split_at_commas(text: str) -> list[str]:
    korean = [_korean(name) for name in KOREAN_SEPARATOR.split(text)]
    parts = (name for name in korean if not (_is_east_asian(name) or " " in name or is_family_name(name)))
    if any(map(_is_east_asian, korean)) and not any(parts):
        joined: list[str] = []  # a family name and the given name after the comma: 박, 민수
        for name in korean:
            if joined and is_family_name(joined[-1]):
                joined[-1] += name
            else:
                joined.append(name)
        return joined
    names = list(filter(None, COMMA.split(LAST_NAME.sub(", ", text))))
    is_list, wholes = len(names) > 2, [" " in name for name in names]  # noqa: PLR2004
    if len(names) == 1 or any(name in SUFFIXES for name in names):
        return [text]
    if is_list and len(names) % 2 == 0 and (not any(wholes) or all(map(_is_initials, names[1::2]))):
        return [f"{family}, {given}" for family, given in zip(names[::2], names[1::2], strict=True)]
    ends = (name.split()[0] in KOREAN_OR_VIETNAMESE or _is_initials(name.split()[-1]) for name in names)
    certain = all(wholes) and not is_organization(" ".join(names)) and (is_list or all(ends))
    return names if certain else [text]


def _korean(name: str) -> str:
    """Return a name in Hangul without affiliation, role and space; other names unchanged."""
    inner = IN_BRACKETS.search(name)
    other = (
        inner
        and not is_organization(inner[1])
        and not HANGUL.search(inner[1])
        and (_is_east_asian(inner[1]) or " " in inner[1])
    )
    bare = ROLE.sub("", IN_BRACKETS.sub("", name) if inner and not other else name).strip()
    family, _, given = bare.partition(" ")
    joined = family + given.strip()
    return joined if EAST_ASIAN_NAME.fullmatch(joined) and (not given or is_family_name(family)) else bare


def _is_east_asian(name: str) -> bool:
    return EAST_ASIAN_NAME.fullmatch(IN_BRACKETS.sub("", name)) is not None
