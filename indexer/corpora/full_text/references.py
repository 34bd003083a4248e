"""Reference lists: their entries, and the authors, year, title and DOI of each entry.

Rules for the common styles of both languages; why no library does it is in docs/how-to/full-papers.md.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.normal_forms import ARXIV_DOI

REFERENCE_CHARACTERS = 2_000
MOST_AUTHORS = 50
FEW_LETTERS = 3  # of an entry without words
MOST_LEFT_OUT = 5  # consecutive missing numbers of a list
DOI = lazy_regex(r"10\.\d{4,9}/[^\s\"<>|\\^`{}「」『』]+", re.IGNORECASE)
ARXIV = lazy_regex(
    r"arxiv(?:\.org/(?:abs|pdf)/|\s*:\s*|\s+)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})", re.IGNORECASE
)
ADDRESS = lazy_regex(r"(?:https?://|www\.|doi\s*:?\s*10\.|10\.\d{4,9}/|arxiv\s*:)\S+", re.IGNORECASE)
# [1], (1), 1., and names: [Kim20], [Kim and Lee, 2020]
LABEL = lazy_regex(
    r"\s*(?:[-*•]\s+)?(?:\[(?P<square>\d{1,4})\]|\((?P<round>\d{1,3})\)|(?P<plain>\d{1,4})[.)](?=\s)"
    r"|(?P<name>\[[^\W\d_][^\[\]]{1,80}\d\d[a-z]?\]))\s*"
)
BULLET = lazy_regex(r"\s*[-*•]\s+")
YEAR = r"(?:1[89]|20)\d\d"
YEAR_IN_BRACKETS = lazy_regex(rf"[(\[]\s*({YEAR})(?:[a-z]|\s*[,.]\s*[^()\[\]]{{0,20}})?\s*[)\]][.,:]?\s*")
YEAR_ALONE = lazy_regex(rf"(?<![\d–—./-])({YEAR})[a-z]?(?![\d–—/-]|\.\d)")
LEADING_YEAR = lazy_regex(rf"[\s.,(]*{YEAR}[a-z]?[)\s.,]+")
# A title in quotes, without a continuation after them.
QUOTED = lazy_regex(
    "|".join(
        rf"{begin}([^{begin}{end}]{{4,}}?),?{end}\s*(?:[,.;:(『《]|$|(?<=[,.?!]{end})\s?)"
        for begin, end in ("“”", '""', "「」", "『』", "‘’", "〈〉", "《》", "<>")
    )
)
# Possessive repetitions: backtracking in one long word of capitals would not end.
SURNAME = (
    r"(?:(?:van|von|de|der|den|di|da|del|la|le|al|el|ter)\s)*+[A-Z][\w'’-]++"
    r"(?:\s[A-Z][\w'’-]{2,}+(?=[,;]|\s[A-Z]{1,3}\b))?+"
)
INITIALS = r"(?:[A-Z][a-z]?\.[\s-]?){1,4}+"
AFTER_NAME = r"(?=\s*(?:[,;.:(&]|and\b|$))"
# The form of the first name is that of all; of names with initials, later ones may be in another order.
NAMES = {
    "initials": lazy_regex(
        rf"{SURNAME},\s*(?:{INITIALS}|[A-Z]{{1,3}}(?=[,;.&\s(]|$))"
        rf"|{SURNAME}\s(?:[A-Z]{{1,3}}(?=[,;.:(]|$)|{INITIALS}(?:{AFTER_NAME}|(?=[A-Z])))|{INITIALS}\s*{SURNAME}"
    ),
    "full": lazy_regex(
        rf"[A-Z][\w'’-]++,\s[A-Z][\w'’-]++(?:\s[A-Z]\.)*+{AFTER_NAME}"
        rf"|[A-Z][\w'’-]++(?:\s(?:[A-Z]\.|[A-Z][\w'’-]++|van|von|de|der|la)){{1,4}}+{AFTER_NAME}"
    ),
    "korean": lazy_regex(r"[가-힣]{2,4}(?=\s*(?:[,·ㆍ;.:(]|외\b|and\b|$))"),
}
NAME_SEPARATOR = lazy_regex(r"[\s.]*(?:[,;·ㆍ]\s*(?:and\s|&\s?)?|\sand\s|\s?&\s|(?<=\.)(?=[A-Z]\.\s))\s*")
OTHERS = lazy_regex(r"[,;.\s]*(?:et al\b|외\s*\d*\s*[인명]?|\(?eds?\b\.?\)?)[.,)]*")
SENTENCE = lazy_regex(r"(?<![\s.(-][A-Z])[.?!](?=\s|$)")
VENUE = lazy_regex(r"\d\s*[(:;,]|^In\b|Proceedings|Journal")
# A line that may start an entry: Kim, J.; J. Kim; van der Berg, K.; 홍길동, / 홍길동(2020)
AUTHOR = lazy_regex(
    r"(?:(?:van|von|de|der|den|la|le|di)\s+)*[A-Z][\w'’-]+,?\s+(?:[A-Z]\.?[\s,&(]|[A-Z]\.-?[A-Z]"
    r"|[A-Z][\w'’-]+[.,&(\s])|(?:[A-Z]\.[\s-]?){1,3}\s?[A-Z][\w'’-]+"
    r"|[가-힣]{2,4}\s?(?:[,·ㆍ(.]|외\b|and\b)|[가-힣]{3,15}\s?\(\s?(?:19|20)\d\d"
)


@dataclass(frozen=True, slots=True)
class EntryLine:
    """A line of a reference list with its layout relative to the others."""

    text: str
    indented: bool  # relative to the edge of the list
    apart: bool  # far from the line above
    first: bool = False  # first line of its column


def entries_in(lines: Iterable[str]) -> list[str]:
    """Split the lines of a reference list in a text: each entry is a line, a block, numbered or indented."""
    seen: list[EntryLine] = []
    blank = False
    for line in lines:
        if line.strip():
            indented = line[0].isspace() and not BULLET.match(line)
            seen.append(EntryLine(line.strip()[:REFERENCE_CHARACTERS], indented=indented, apart=blank))
        blank = not line.strip()
    joined = (" ".join(line.text for line in seen[begin:end]) for begin, end in entry_spans(seen))
    return [entry[found.end() :] if (found := BULLET.match(entry)) else entry for entry in joined]


def entry_spans(lines: Sequence[EntryLine]) -> list[tuple[int, int]]:
    """Return the first line and the end of each entry."""
    begins = [number for number, begin in enumerate(_beginnings(lines)) if begin or number == 0]
    return list(zip(begins, [*begins[1:], len(lines)], strict=False))


def _beginnings(lines: Sequence[EntryLine]) -> list[bool]:
    """Return for each line of a list whether it starts an entry: by labels, gaps, indentation or authors."""
    numbered = _numbered(lines)
    if sum(numbered) > 1 or numbered[:1] == [True]:
        return numbered
    named = [
        found is not None and found["name"] is not None
        for found in (LABEL.match(line.text) for line in lines)
    ]
    if sum(named) > max(1, len(lines) / 10):
        return named
    bullets = [BULLET.match(line.text) is not None for line in lines]
    if sum(bullets) > 1:
        return bullets
    authors = [AUTHOR.match(line.text) is not None for line in lines]
    if sum(line.apart for line in lines) > max(1, len(lines) / 8):
        return [line.apart or (line.first and author) for line, author in zip(lines, authors, strict=True)]
    inner = [author for line, author in zip(lines, authors, strict=True) if line.indented]
    edge = [author for line, author in zip(lines, authors, strict=True) if not line.indented]
    if inner and len(inner) >= len(edge) / 4:
        # Hanging indentation, or otherwise an indented first line.
        hanging = not edge or sum(edge) / len(edge) >= sum(inner) / len(inner)
        return [line.indented != hanging for line in lines]
    return authors


def _numbered(lines: Sequence[EntryLine]) -> list[bool]:
    """Return which lines start with the next number."""
    last = 0
    found = []
    for line in lines:
        label = LABEL.match(line.text)
        number = int(label["square"] or label["round"] or label["plain"] or 0) if label else 0
        found.append(last < number <= last + MOST_LEFT_OUT)
        last = number if found[-1] else last
    return found


def parse_references(entries: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the entries of a reference list that contain words; missing fields are omitted."""
    return [parse_reference(entry) for entry in entries if sum(map(str.isalpha, entry)) > FEW_LETTERS]


def parse_reference(text: str) -> dict[str, Any]:
    """Return {"text", "title", "year", "doi", "authors"} of a reference; only `text` is always present."""
    text = " ".join(text.split())[:REFERENCE_CHARACTERS]
    plain = text[label.end() :] if (label := LABEL.match(text)) else text
    arxiv = ARXIV.search(plain)
    words = ADDRESS.sub("", plain)
    year = YEAR_IN_BRACKETS.search(words)
    years = [year[1]] if year else YEAR_ALONE.findall(words)
    authors, title = _authors_and_title(words, year)
    found = {
        "text": text,
        "title": title,
        "year": int(years[-1]) if years else None,
        "doi": doi_in(plain) or (ARXIV_DOI + arxiv[1] if arxiv else ""),
        "authors": authors,
    }
    return {key: value for key, value in found.items() if value}


def doi_in(text: str) -> str:
    """Return the first DOI of a text, without following punctuation; '' if there is none."""
    found = DOI.search(text)
    doi = found[0].rstrip(".,;:'”’*") if found else ""
    while doi.endswith((")", "]")) and doi.count(doi[-1]) > doi.count("(" if doi[-1] == ")" else "["):
        doi = doi[:-1].rstrip(".,;:'”’")
    return doi


def _authors_and_title(words: str, year: re.Match[str] | None) -> tuple[list[str], str]:
    authors, end, listed = _leading_names(words)
    rest = words[end:]
    if quoted := QUOTED.search(words):
        return authors, _clean(quoted[quoted.lastindex or 0])
    if year and year.start() < len(words) / 2 and _clean(words[: year.start()]):
        between, after = words[end : year.start()].lstrip(" .,"), words[year.end() :]
        if not VENUE.search(between) and not SENTENCE.search(between):
            return authors, _clean(_title(after, commas=re.match(r"[\W\d]*[가-힣]", after) is not None))
    if not authors and len(parts := _sentences(rest)) > 1 and LEADING_YEAR.fullmatch(f"{parts[1]} "):
        rest = rest[len(parts[0]) + 1 :]  # Organization. Year. Title.
    if leading := LEADING_YEAR.match(rest):
        rest = rest[leading.end() :]
    return authors, _clean(_title(rest.lstrip(" .,:"), commas=listed))


def _leading_names(words: str) -> tuple[list[str], int, bool]:
    """Return the names that start a reference, their end, and whether a comma precedes the title."""
    names: list[str] = []
    forms: Sequence[str] = tuple(NAMES)
    at, listed = len(words) - len(words.lstrip()), False
    while len(names) < MOST_AUTHORS:
        found = next(((form, name) for form in forms if (name := NAMES[form].match(words, at))), None)
        if found is None:
            break
        forms = found[:1]
        names.append(found[1][0].rstrip(" ."))
        at, listed = found[1].end(), False
        if others := OTHERS.match(words, at):
            at, listed = others.end(), others[0].endswith(",")
        if not (separator := NAME_SEPARATOR.match(words, at)):
            break
        at, listed = separator.end(), True
    return names, at, listed


def _sentences(text: str) -> list[str]:
    """Split a text at full stops, except after initials."""
    ends = [0, *(stop.end() for stop in SENTENCE.finditer(text)), len(text)]
    parts = (text[begin:end].strip() for begin, end in pairwise(ends))
    return [part for part in parts if part.strip(" .")]


def _title(text: str, *, commas: bool) -> str:
    """Return the first sentence, or the text before a comma; a second sentence may follow a question."""
    first, second, third = (*_sentences(text), "", "", "")[:3]
    if commas and "," in first:
        return first.split(",")[0]
    goes_on = first.endswith(("?", "!")) and third and not VENUE.search(second)
    return f"{first} {second}" if goes_on else first


def _clean(text: str) -> str:
    text = text.strip(" ,.;:·'‘’“”\"")
    for begin, end in ("()", "[]"):
        text = text[:-1] if text.endswith(end) and begin not in text else text
        text = text[1:] if text.startswith(begin) and end not in text else text
    return text.strip(" ,.;:")
