"""Parsing of references: authors, year, title, DOI.

Rules for the common styles of both languages; why no library does it is in docs/how-to/full-papers.md.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.full_text.lines.joining import HANGUL
from indexer.corpora.full_text.reference_list import LABEL

REFERENCE_CHARACTERS = 2_000
MOST_REFERENCES = 10_000
MOST_AUTHORS = 50
DOI = lazy_regex(r"10\.\d{4,9}/[^\s\"<>|\\^`{}「」『』]+", re.IGNORECASE)
ARXIV = lazy_regex(
    r"arxiv(?:\.org/(?:abs|pdf)/|\s*:\s*|\s+)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})", re.IGNORECASE
)
ARXIV_DOI = "10.48550/arXiv."  # prefix of the DOIs registered with DataCite
ADDRESS = lazy_regex(r"(?:https?://|www\.|doi\s*:?\s*10\.|10\.\d{4,9}/|arxiv\s*:)\S+", re.IGNORECASE)
YEAR = r"(?:1[89]|20)\d\d"
YEAR_IN_BRACKETS = lazy_regex(rf"[(\[]\s*({YEAR})(?:[a-z]|\s*[,.]\s*[^()\[\]]{{0,20}})?\s*[)\]][.,:]?\s*")
YEAR_ALONE = lazy_regex(rf"(?<![\d–—./-])({YEAR})[a-z]?(?![\d–—/-]|\.\d)")
# A title in quotes, without a continuation after them.
QUOTES = (
    ("“", "”"),
    ('"', '"'),
    ("「", "」"),
    ("『", "』"),
    ("‘", "’"),
    ("〈", "〉"),
    ("《", "》"),
    ("<", ">"),
)
QUOTED = tuple(
    lazy_regex(
        rf"{begin}(?P<title>[^{begin}{end}]{{4,}}?),?{end}\s*(?:[,.;:(『《]|$|(?<=[,.?!]{end})|(?<=[,.?!]{end}\s))"
    )
    for begin, end in QUOTES
)
INITIALS = lazy_regex(r"(?:^|[\s.,-])[A-Z]$")
# Kim J, Lee SH. Title
INITIALS_BEHIND = lazy_regex(r"\s*(?:[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?\s[A-Z]{1,3}(?:,\s*|$))+")
NEXT_NAME = lazy_regex(r"\s*(?:[A-Z]\.|[A-Z][\w'’-]+(?:[,.]|\s+(?:and|&)\s))")
KOREAN_NAME = lazy_regex(r"[가-힣]{2,4}(?:\s*외(?:\s*\d+\s*[인명])?)?")
# Words are matched possessively, as backtracking in one long word of capitals would not end.
NAME = r"(?:[A-Z][\w'’-]++|(?:van|von|de|der|den|la|le|di|al|el))"
INITIALS_OF_NAME = r"(?:[A-Z]\.?[\s-]?){1,4}"
AUTHOR = lazy_regex(
    rf"(?:{NAME}\s)*{NAME},\s*{INITIALS_OF_NAME}(?![\w])|{INITIALS_OF_NAME}\s?(?:{NAME}\s?)+|(?:{NAME}\s)+[A-Z]{{1,3}}\b"
    rf"|{NAME}(?:\s(?:[A-Z]\.|{NAME})){{1,4}}|[가-힣]{{2,4}}"
)
SENTENCE = lazy_regex(r"[.?!](?=\s|$)")
VENUE = lazy_regex(r"\d\s*[(:;,]|^In\b|Proceedings|Journal")
BRACKETS = (("(", ")"), ("[", "]"))
NO_TITLE = 3  # letters; shorter texts are not titles
LONGEST_KOREAN_NAME = 4


def parse_references(entries: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the first entries of a reference list that contain words; missing fields are omitted."""
    texts = (" ".join(entry.split())[:REFERENCE_CHARACTERS] for entry in entries)
    told = (text for text in texts if sum(map(str.isalpha, text)) > NO_TITLE)
    return list(map(parse_reference, islice(told, MOST_REFERENCES)))


def parse_reference(text: str) -> dict[str, Any]:
    """Return {"text", "title", "year", "doi", "authors"} of a reference; only `text` is always present."""
    label = LABEL.match(text)
    plain = text[label.end() :] if label else text
    doi = doi_in(plain)
    if not doi and (arxiv := ARXIV.search(plain)):
        doi = ARXIV_DOI + arxiv[1]
    words = ADDRESS.sub("", plain)
    year = YEAR_IN_BRACKETS.search(words)
    years = [year[1]] if year else YEAR_ALONE.findall(words)
    authors, title = _authors_and_title(words, year)
    found = {
        "text": text,
        "title": title,
        "year": int(years[-1]) if years else None,
        "doi": doi,
        "authors": authors,
    }
    return {key: value for key, value in found.items() if value}


def doi_in(text: str) -> str:
    """Return the first DOI of a text, without following punctuation; '' if there is none."""
    found = DOI.search(text)
    if not found:
        return ""
    doi = found[0].rstrip(".,;:'”’*")
    while doi.endswith((")", "]")) and doi.count(doi[-1]) > doi.count("(" if doi[-1] == ")" else "["):
        doi = doi[:-1].rstrip(".,;:'”’")
    return doi


def _authors_and_title(words: str, year: re.Match[str] | None) -> tuple[list[str], str]:
    if quoted := next(filter(None, (pattern.search(words) for pattern in QUOTED)), None):
        before = words[: min(quoted.start(), year.start() if year else quoted.start())]
        return _authors(before), _clean(quoted["title"])
    if year and year.start() < len(words) / 2 and _clean(words[: year.start()]):
        return _authors(words[: year.start()]), _clean(_title_before_comma(words[year.end() :]))
    sentences = _sentences(words)
    if len(sentences) > 1 and re.fullmatch(rf"[\s(]*{YEAR}[a-z]?[)\s.]*", sentences[1]):
        del sentences[1]  # Authors. Year. Title.
    if len(sentences) > 1 and not _is_korean_comma_list(sentences[0]):
        return _authors(sentences[0]), _clean(_title(sentences[1:]))
    return _comma_list(words)


def _is_korean_comma_list(sentence: str) -> bool:
    parts = sentence.split(",")
    return KOREAN_NAME.fullmatch(parts[0].strip()) is not None and any(
        len(part.strip()) > LONGEST_KOREAN_NAME and HANGUL.search(part) for part in parts[1:]
    )


def _comma_list(words: str) -> tuple[list[str], str]:
    """Split `author, author, title, journal, volume, year`."""
    parts = [part.strip() for part in re.split(r"[,·ㆍ]\s*", words)]
    end = next((place for place, part in enumerate(parts) if not _is_name(part)), len(parts))
    return [part for part in parts[:end] if part], _clean(parts[end]) if end < len(parts) else ""


def _is_name(part: str) -> bool:
    return KOREAN_NAME.fullmatch(part) is not None or AUTHOR.fullmatch(part) is not None


def _authors(text: str) -> list[str]:
    text = re.sub(r"\bet al\.?|\b외\s*\d*\s*[인명]?$|\([^()]*\)|\beds?\.", "", text)
    names = [found[0].strip(" ,.&") for found in AUTHOR.finditer(text)]
    return names[:MOST_AUTHORS]


def _sentences(text: str) -> list[str]:
    """Split a text at full stops, except after initials."""
    parts, begin = [], 0
    for stop in SENTENCE.finditer(text):
        before = text[begin : stop.start()]
        if stop[0] == "." and INITIALS.search(before):
            ends_authors = INITIALS_BEHIND.fullmatch(before) and not NEXT_NAME.match(text, stop.end())
            if not ends_authors:
                continue
        parts.append(text[begin : stop.end()].strip())
        begin = stop.end()
    return [part for part in (*parts, text[begin:].strip()) if part.strip(" .")]


def _title_before_comma(text: str) -> str:
    first = _title(_sentences(text))
    # Korean entries separated by commas: authors(year), title, journal, 12(3)
    return first.split(",")[0] if HANGUL.match(first) and "," in first else first


def _title(sentences: Sequence[str]) -> str:
    """Return the first sentence, with the second if the title starts with a question."""
    first, second, third = (*sentences, "", "", "")[:3]
    goes_on = first.endswith(("?", "!")) and third and not VENUE.search(second)
    return f"{first} {second}" if goes_on else first


def _clean(text: str) -> str:
    text = text.strip(" ,.;:·'‘’“”\"")
    for begin, end in BRACKETS:
        if text.endswith(end) and begin not in text:
            text = text[:-1]
        if text.startswith(begin) and end not in text:
            text = text[1:]
    return text.strip(" ,.;:")
