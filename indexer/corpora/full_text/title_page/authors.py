"""Authors on a title page: rows of names only, below the title, in one style."""

import re
from collections.abc import Iterator, Sequence

from base.patterns import lazy_regex
from indexer.corpora.full_text.lines.joining import letters_of, readable
from indexer.corpora.full_text.lines.layout import Line, rows_of
from indexer.corpora.full_text.lines.placed import same_size, together

MOST_AUTHORS = 100
ROW_CHARACTERS = 500
RAISED = 0.85  # maximal size of an affiliation mark relative to its row
WIDE = 1.5  # gap between cells in row heights
SAME_SIZE = 0.06
MARK = "\x00"
SEPARATOR = lazy_regex(
    r"\s*(?:[,;·ㆍ•|&，、*†‡∗§¶\x00]|(?<![\w-])and(?![\w-])|(?<=\s)및(?=\s))\s*", re.IGNORECASE
)
LABELS = lazy_regex(
    r"^\s*(?:by|authors?(?:\(s\))?|저\s*자|글쓴이|성\s*명|이름|written by|presented by|발표자?)\s*[:：]?\s+",
    re.IGNORECASE,
)
BRACKETED = lazy_regex(r"\([^()]*\)|\[[^\[\]]*\]")
DEGREES = lazy_regex(
    r"(?:ph\.?\s?d|m\.?\s?d|m\.?\s?sc|b\.?\s?sc|jr|sr|ii|iii|(?:senior |student )?member|fellow|ieee|acm)\.?",
    re.IGNORECASE,
)
EDGES = " .,:*†‡∗§¶#+_~^-–—✉⋆★☆"
NUMBERS = "0123456789"
PARTICLES = frozenset("van von de der den la le di da del dos du al el bin ibn ter ten zu y e".split())
MOST_WORDS = 5
# Words of other capitalised rows: institutions, places, titles.
NO_NAMES = lazy_regex(
    r"universit|institut|departm|dept|school|college|laborator|\blabs?\b|cent(?:er|re)|facult|division|academy|hospital|research"
    r"|scien|te[ck]h?n[io]|engineer|mathemat|physic|statistic|econom|system|\binc\b|\bltd|corp|compan|group|street|avenue|road"
    r"|\bbox\b|journal|proceed|conference|report|press|abstract|introduc|keyword|editor|member|student|thesis|profess|supervis"
    r"|committee|graduate|master|doctor|republic|united|states|kingdom|korea|china|japan|\busa?\b|\buk\b|german|france|canada"
    r"|india|singapore|australia|copyright|licen[sc]e|figure|table|permission|received|article|review|software|\bopen\b|access"
    r"|workshop|session|chapter|part|contents|notes?\b|version|draft|national|international|model|learning|network|method"
    r"|analysis|language|data|theory|study|survey|approach|intelligence|artificial|^an? "
    r"|(?-i:\b(?:the|The|of|for|in|on|with|an|a|to)\b)",
    re.IGNORECASE,
)
TRANSCRIBED = lazy_regex(r"(?P<name>[가-힣]{2,6})\s*\((?P<latin>[^()]+)\)")
SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구민나진지엄채원천방공현함변염여추도소석선설마길연위표명기반라"
    "왕금옥육인맹제모탁국어은편용예경봉사부가복태목형피두감음빈동온호범좌팽승간상시갈단견당화창"
)
LONG_SURNAMES = ("남궁", "황보", "제갈", "사공", "선우", "서문", "독고")
KOREAN_NAME = lazy_regex(r"[가-힣]{2,4}")
NO_KOREAN_NAMES = lazy_regex(
    r".*(?:학교|대학|학과|학부|학원|전공|연구|교수|논문|센터|공학|학회|회사|기술|서론|요약|초록|목차|석사|박사|학사|학위|과정|저자|제출|심사"
    r"|위원|결론|방법|결과|본론|소개|주제|시스템|국문|영문|한글|참고|이용|개발|설계)"
    r"|한국|서울|정보|전산|전자|전기|기계|경제|경영|과학|성균|연세|고려|이화|경희|경기|인천|광주|제주|강원|경북|경남|전북|전남"
)
SURNAME_APART = lazy_regex(r"[가-힣]\s[가-힣]{2}")
SHORT_NAME = 2
MARK_BEHIND = lazy_regex(r"[*†‡∗\d\x00]")


def authors_of(fragments: Sequence[Line], language: str, metadata: str, page_text: str) -> list[str]:
    """Return the author names in fragments below a title, in its language if there are any.

    `metadata` contains the document's author field, used if no row contains names and each is on the page.
    """
    rows = [names for names in map(_names_of_row, rows_of(fragments)) if names[1]]
    korean = [row for row in rows if _is_korean(row[1][0])]
    latin = [row for row in rows if not _is_korean(row[1][0])]
    for found in (korean, latin) if language == "ko" else (latin, korean):
        names = [name for row in found if _same_style(row[0], found[0][0]) for name in row[1]]
        if names:
            return list(dict.fromkeys(names))[:MOST_AUTHORS]
    told = [part for part in re.split(r"\s*[;,·]\s*(?:and\s+)?|\s+and\s+", readable(metadata)) if part]
    page = letters_of(page_text)
    confirmed = [part for part in told if names_in(part) and letters_of(part) in page]
    return confirmed[:MOST_AUTHORS] if len(confirmed) == len(told) else []


def names_in(text: str) -> list[str]:
    """Return the names in a text of names only, optionally with an institution; otherwise []."""
    text = LABELS.sub("", text.strip())
    if len(text) > ROW_CHARACTERS:
        return []
    names: list[str] = []
    foreign = {found["name"] for found in TRANSCRIBED.finditer(text) if _is_latin_name(found["latin"])}
    for part in SEPARATOR.split(BRACKETED.sub(MARK, text)):
        name = together(part.lstrip(EDGES).rstrip(EDGES + NUMBERS)).strip(EDGES)
        if SURNAME_APART.fullmatch(name):
            name = "".join(name.split())
        if not any(map(str.isalpha, name)) or len(name) == 1 or DEGREES.fullmatch(name):
            continue
        if len(name.split()) > 1 and all(map(_is_korean_name, name.split())):
            names += name.split()
            continue
        if not (name in foreign or _is_korean_name(name) or _is_latin_name(name)):
            return names if names and NO_NAMES.search(name) else []
        names.append(name)
    if all(len(name) <= SHORT_NAME for name in names) and len(names) == 1 and not MARK_BEHIND.search(text):
        return []  # a word of two syllables
    return names


def _names_of_row(row: Sequence[Line]) -> tuple[Line, list[str]]:
    """Return the largest fragment of a row and the names in its cells."""
    largest = max(row, key=lambda line: line.size)
    cells = list(_cells(row, largest.size))
    names = [name for cell in cells for name in names_in(cell)]
    return largest, names or names_in(" ".join(cells))


def _cells(row: Sequence[Line], size: float) -> Iterator[str]:
    cell = ""
    right = row[0].left
    for line in row:
        gap = line.left - right
        if gap > WIDE * size and cell:
            yield cell
            cell = ""
        raised = line.size < RAISED * size
        # A separator between two marks is not a mark: Kim¹,²
        text = MARK if raised else line.text
        cell += text if gap < 0.1 * size or not cell else f" {text}"
        right = line.right
    yield cell


def _same_style(line: Line, first: Line) -> bool:
    return line.bold == first.bold and same_size(line.size, first.size, SAME_SIZE)


def _is_korean(name: str) -> bool:
    return "가" <= name[0] <= "힣"


def _is_korean_name(name: str) -> bool:
    if not KOREAN_NAME.fullmatch(name) or NO_KOREAN_NAMES.match(name):
        return False
    return name[0] in SURNAMES if len(name) < 4 else name.startswith(LONG_SURNAMES)  # noqa: PLR2004


def _is_latin_name(name: str) -> bool:
    words = name.replace(".", ". ").split()
    if not 1 < len(words) <= MOST_WORDS or NO_NAMES.search(name) or any(map(str.isdigit, name)):
        return False
    if not all(word in PARTICLES or _is_name_word(word) for word in words):
        return False
    return sum(len(word.strip(".")) > 1 for word in words) >= (1 if "." in name else 2)


def _is_name_word(word: str) -> bool:
    bare = word.rstrip(".")
    return bool(bare) and bare[0].isupper() and all(sign.isalpha() or sign in "'’-˘´`¨ˇ" for sign in bare)
