"""An author's name as a value, and the rules that split its text.

Names in Hangul: 곽소율 is 곽 and 소율, 남궁민재 is 남궁 and 민재. Names in scripts with capitals: Ludwig van
Beethoven, José Ortega y Gasset, Müller EM. Names of organizations are never split.
"""

import re
import unicodedata
from dataclasses import dataclass, replace

from base.letters import HANGUL

MOST_PARTS = 3  # family, given, suffix
SYLLABLES = re.compile("[가-힣]+")
# Family names of one syllable in the census of 2015, and their northern spellings.
FAMILY_NAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여"
    "추도소석선설마길연위표명기반라왕금옥육인맹제모탁국어은편용예봉경사부가복태목형계피두감음빈동온호범좌팽승간상"
    "시갈단견당화창리림로량려련룡"
)
# The first syllable of these is rarely a family name before such a given name: 남궁원 is 남궁 and 원.
LONG_FAMILY_NAMES = frozenset(("남궁", "제갈", "사공", "독고", "동방", "망절", "어금"))
# With three syllables, 황보라 is more often 황 and 보라; with four, 황보민재 is 황보 and 민재.
LONG_OR_SHORT_FAMILY_NAMES = frozenset(("황보", "선우", "서문"))
ALL_LONG = LONG_FAMILY_NAMES | LONG_OR_SHORT_FAMILY_NAMES
LONG = 2  # syllables of a long family name
LONGEST_GIVEN = 3
LONGEST = LONG + LONGEST_GIVEN

PARTICLES = frozenset(
    "von vom zu zum zur van der den de ter ten 't te op af av da do dos das di du del della dello dei degli "
    "della la le los las lo bin bint ibn abu".split()
)
# With a capital they are part of the family name: Robert De Niro.
CAPITAL_PARTICLES = frozenset("Van Von De Der Den Di Du Da Dos Del Della Le La Lo El St. Saint".split())
AND_IN_FAMILY = frozenset(("y", "i"))  # José Ortega y Gasset, Antoni Puig i Cadafalch
SUFFIXES = frozenset("Jr Jr. Sr Sr. II III IV 2nd 3rd 4th".split())
AFTER_FAMILY = frozenset("Filho Neto Júnior Sobrinho".split())  # part of a Portuguese family name
ROMANIZED_KOREAN = frozenset(
    "Kim Lee Yi Rhee Park Pak Choi Choe Jung Jeong Chung Kang Cho Jo Yoon Yun Jang Chang Lim Im Han Oh Seo "
    "Suh Shin Sin Kwon Hwang Ahn An Song Ryu Yoo Yu Jeon Jun Hong Ko Go Moon Mun Yang Son Sohn Bae Baek Paik "
    "Heo Hur Nam Shim Sim Noh Roh Ha Kwak Gwak Sung Seong Cha Joo Ju Woo Koo Gu Min Na Jin Ji Um Eom Chae "
    "Won Cheon Bang Kong Hyun Ham Byun Yeo Choo Do So Seok Sun Seol".split()
)
VIETNAMESE = frozenset(
    "Nguyen Tran Pham Huynh Hoang Phan Vu Vo Dang Bui Ngo Duong Ly Nguyễn Trần Phạm".split()
)
HYPHENATED = re.compile("[A-Z][a-z]+-[a-z]+")  # Min-su
INITIALS = re.compile(r"[A-Z]{1,3}|(?:[^\W\d_]\.-?)+")
VOWEL = re.compile("[AEIOUY]")
SHORT = 2  # capitals that are initials even with a vowel
MOST_WORDS = 8

ORGANIZATION_WORDS = (
    *("academy", "administration", "agency", "alliance", "association", "authority", "board", "bureau"),
    *("center", "centers", "centre", "centres", "club", "collaboration", "collaborators", "college"),
    *("commission", "committee", "community", "company", "conference", "congress", "consortium"),
    *("corporation", "council", "department", "editors", "editorial", "faculty", "federation", "forum"),
    *("foundation", "government", "group", "hospital", "inc", "initiative", "institut", "institute"),
    *("institution", "investigators", "laboratories", "laboratory", "league", "library", "ltd", "ministry"),
    *("museum", "network", "office", "organisation", "organization", "panel", "program", "programme"),
    *("project", "school", "secretariat", "service", "society", "staff", "taskforce", "team", "trust"),
    *("union", "universidad", "universidade", "universität", "université", "university", "workshop"),
)
ENGLISH_ORGANIZATION = re.compile(
    rf"\b(?i:{'|'.join(ORGANIZATION_WORDS)})\b|\b(?:and|of|for|the)\b|[&/;:@()\[\]0-9]"
)
KOREAN_ORGANIZATIONS = (
    *("학회", "협회", "협의회", "연구회", "위원회", "연구원", "연구소", "연구실", "연구팀", "연구단"),
    *("대학", "대학교", "대학원", "학교", "학부", "학과", "병원", "센터", "재단", "공사", "공단", "은행"),
    *("정부", "교육부", "교육청", "통계청", "기상청", "환경부", "진흥원", "개발원", "정보원", "진흥청"),
    *("도서관", "박물관", "편집부", "사무국", "주식회사", "컨소시엄", "조합", "연맹", "연합회", "본부"),
    *("사업단", "추진단", "편집팀", "출판사", "신문사", "방송"),
)


@dataclass(frozen=True, slots=True)
class AuthorName:
    """A name by the parts of CSL 1.0.2; a name that cannot be split is in `family` alone.

    `particle` is before the family name (van, de la), `suffix` after the name (Jr., III).
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the name was not split: an organization, a single name, an unknown script."""
        return not self.given

    @property
    def is_korean(self) -> bool:
        """Whether the name is in Hangul, with the family name first and no space between."""
        return HANGUL.match(self.family) is not None

    @property
    def last_name(self) -> str:
        """The family name with its particle."""
        return f"{self.particle} {self.family}".strip()

    @property
    def natural(self) -> str:
        """The name as it is read: 곽소율, Ludwig van Beethoven, Martin Luther King Jr."""
        if self.is_korean and self.given:
            return f"{self.family}{self.given}"
        return " ".join(part for part in (self.given, self.particle, self.family, self.suffix) if part)

    def __str__(self) -> str:
        """Return "Family, Given" with particle and suffix, or the whole name; `split_name` reads it again."""
        return ", ".join(part for part in (self.last_name, self.given, self.suffix) if part)


def split_name(text: str) -> AuthorName:
    """Split the name of one author.

    "Family, Given" and "Family, Given, Suffix" are split at the commas. Without a comma, a name in Hangul is
    split by the list of Korean family names, a name in Latin, Cyrillic or Greek letters before its last word
    or its particle. Names of organizations, single names and names in other scripts stay whole.
    """
    name = unicodedata.normalize("NFC", text).strip()
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1:
        return _without_comma(name) or AuthorName(name)
    if parts[0] and parts[1:] == [""]:  # the form of RIS for an unsplit name
        return split_name(parts[0])
    if len(parts) > MOST_PARTS or not all(parts) or is_organization(name):
        return AuthorName(name)
    return _with_comma(name, parts)


def _without_comma(name: str) -> AuthorName | None:
    if is_organization(name):
        return None
    return split_korean(name) if HANGUL.search(name) else split_western(name)


def _with_comma(name: str, parts: list[str]) -> AuthorName:
    """Read "Family, Given", "Given Family, Suffix", "Family, Given, Suffix" and "Family, Suffix, Given"."""
    suffixes = [part for part in parts[1:] if part in SUFFIXES]
    others = [part for part in parts if part not in SUFFIXES]
    if len(others) == 1 and len(suffixes) == 1:
        split = _without_comma(others[0])
        return replace(split, suffix=suffixes[0]) if split else AuthorName(name)
    if len(others) != MOST_PARTS - 1 or others[0] != parts[0] or len(suffixes) > 1:
        return AuthorName(name)
    family, given = others
    particles, families = _split_particle(family.split())
    behind, names = _split_particle(given.split()[::-1])  # Beethoven, Ludwig van
    if len(families) > 1 and families[-1] in SUFFIXES and not suffixes:
        suffixes = [families.pop()]
    if behind:
        given = " ".join(names[::-1])
    return AuthorName(
        " ".join(families), given, " ".join(particles or behind[::-1]), next(iter(suffixes), "")
    )


def _split_particle(words: list[str]) -> tuple[list[str], list[str]]:
    """Split ["van", "der", "Berg"] after its particles; without other words nothing is split."""
    count = next((place for place, word in enumerate(words) if word not in PARTICLES), 0)
    return words[:count], words[count:]


def split_korean(name: str) -> AuthorName | None:
    """Split a name in Hangul; None if no known family name fits.

    A space may follow or, in the Western order, precede the family name.
    """
    words = name.split()
    if not all(SYLLABLES.fullmatch(word) for word in words):
        return None
    if len(words) == 1:
        return _split_syllables(name)
    if len(words) != 2:  # noqa: PLR2004 - family and given name
        return None
    for family, given in (words, reversed(words)):
        if is_family_name(family) and len(given) <= LONGEST_GIVEN:
            return AuthorName(family, given)
    return None


def is_family_name(word: str) -> bool:
    """Check for a Korean family name in Hangul."""
    return word in FAMILY_NAMES or word in ALL_LONG


def _split_syllables(name: str) -> AuthorName | None:
    if not LONG <= len(name) <= LONGEST or name in ALL_LONG:
        return None
    long = LONG_FAMILY_NAMES if len(name) == LONG + 1 else ALL_LONG
    if name[:LONG] in long:
        return AuthorName(name[:LONG], name[LONG:])
    if name[0] in FAMILY_NAMES and len(name) <= 1 + LONGEST_GIVEN:
        return AuthorName(name[0], name[1:])
    return None


def split_western(name: str) -> AuthorName | None:
    """Split a name whose family name is last, or first before initials; None if it stays whole."""
    words = name.split()
    if not 1 < len(words) <= MOST_WORDS or not all(map(_is_name_word, words)):
        return None
    if all(word.islower() for word in words):
        return None
    suffix = ""
    if words[-1] in SUFFIXES:
        if len(words) == 2:  # noqa: PLR2004 - a family name with a suffix
            return None
        *words, suffix = words
    begin = _family_first(words)
    if begin:
        family, given = words[:begin], words[begin:]
    elif words[0] in PARTICLES:  # a family name alone
        return None
    else:
        begin = _begin_of_family(words)
        given, family = words[:begin], words[begin:]
    if all(word in PARTICLES for word in family):
        return None
    particles, family = _split_particle(family)
    return AuthorName(" ".join(family), " ".join(given), " ".join(particles), suffix)


def _is_name_word(word: str) -> bool:
    letter = word.lstrip("'’ʻ‘")[:1]
    return letter.isalpha() and letter.lower() != letter.upper()


def _is_initials(word: str, before: list[str]) -> bool:
    """Check for EM or E.M. after a family name; KIM with its vowel is a name."""
    if not INITIALS.fullmatch(word) or all(INITIALS.fullmatch(each) for each in before):
        return False
    return len(word) <= SHORT or "." in word or not VOWEL.search(word)


def _family_first(words: list[str]) -> int:
    """Return the number of words of a family name that comes first; 0 if it comes last."""
    *first, last = words
    if _is_initials(last, first):  # Müller EM, as in PubMed
        return len(first)
    if len(first) == 1 and first[0] in ROMANIZED_KOREAN and HYPHENATED.fullmatch(last):  # Kim Min-su
        return 1
    capitals = first[0].isupper() and len(first[0]) > SHORT and VOWEL.search(first[0])
    if capitals and not any(word.isupper() for word in words[1:]):  # KIM Minsu
        return 1
    return 0


def _begin_of_family(words: list[str]) -> int:
    """Return the place of the first word of the family name, or of its particle."""
    last = len(words) - 1
    for place in range(1, last):
        if words[place] in PARTICLES:
            return place
        if words[place] in AND_IN_FAMILY and place > 1:
            return place - 1
        if words[place] in CAPITAL_PARTICLES and words[last] not in ROMANIZED_KOREAN | VIETNAMESE:
            return place
    return last - 1 if words[last] in AFTER_FAMILY and last > 1 else last


def is_organization(name: str) -> bool:
    """Check for a word of an organization, a connective, or a sign that no person's name has."""
    return ENGLISH_ORGANIZATION.search(name) is not None or name.endswith(KOREAN_ORGANIZATIONS)
