"""Parsing of answers of a foreign Elasticsearch or OpenSearch index as papers.

A field of a record may be missing, null, a list, a number, or very long.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from indexer.corpora.papers import INDEXED_CHARACTERS, Language, Paper
from retriever.sources import SourcePaper
from retriever.sources.foreign_index.settings import IndexFields, Settings
from retriever.sources.web.records import SURROGATE, number

YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2}|2100)(?!\d)")
BETWEEN_AUTHORS = re.compile(r"\s*[;|]\s*")
# Longer values are cut; an abstract has 300 words.
LONGEST_TITLE, LONGEST_TEXT, LONGEST_BODY = 2_000, 20_000, 100_000
MOST_VALUES = 10_000  # of a list
DEEPEST = 8
MOST_HITS = 10_000  # of a search: the default of `index.max_result_window`
MOST_PAPERS = 10**12  # maximum of a count, from which weights of words are computed


def paper_of(settings: Settings, name: str, hit: Any) -> SourcePaper | None:
    """Return a hit as a paper of the source; None if it is not a hit, or has no usable id."""
    if not isinstance(hit, dict):
        return None
    source, fields = hit.get("_source"), settings.fields
    if not isinstance(source, dict):
        source = {}
    found = {field: value_at(source, field) for field in (*fields.title, *fields.abstract, *fields.keywords)}
    record: dict[str, Any] = {
        "id": unicodedata.normalize(
            "NFC", _first_text(hit.get("_id") if fields.id == "_id" else value_at(source, fields.id))
        ),
        "title": _joined((found[field] for field in fields.title), LONGEST_TITLE),
        "abstract": _joined((found[field] for field in fields.abstract), LONGEST_TEXT),
        "source": name,
    }
    optional = {
        "year": _year(value_at(source, fields.year)),
        "lang": _language(settings, value_at(source, fields.lang)),
        "authors": list(_authors(value_at(source, fields.authors))),
        "journal": _joined([value_at(source, fields.journal)], LONGEST_TITLE),
        "doi": _first_text(value_at(source, fields.doi)),
        "url": _first_text(value_at(source, fields.url)),
        "keywords": [text for field in fields.keywords for text in texts_in(found[field])],
        "references": list(_ids(value_at(source, fields.references))),
    }
    try:
        paper = Paper.model_validate(record | {key: value for key, value in optional.items() if value})
    except ValidationError:
        return None
    return SourcePaper(paper, number(hit.get("_score")))


def body_of(fields: IndexFields, hit: Any) -> str:
    """Return the full text of a hit, or ""."""
    source = hit.get("_source") if isinstance(hit, dict) else None
    if not isinstance(source, dict):
        return ""
    return _joined((value_at(source, field) for field in fields.body), LONGEST_BODY)


def value_at(source: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field, which may be in nested objects or in lists of them."""
    if not field:
        return None
    if field in source:
        return source[field]
    first, _, rest = field.partition(".")
    inner = source.get(first) if rest else None
    if isinstance(inner, list):
        return [value_at(each, rest) for each in inner[:MOST_VALUES] if isinstance(each, dict)]
    return value_at(inner, rest) if isinstance(inner, dict) else None


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a value, or of each item of a list; numbers as text."""
    if isinstance(value, str):
        if text := SURROGATE.sub("\ufffd", value).strip():
            yield text
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, list) and depth < DEEPEST:
        for each in value[:MOST_VALUES]:
            yield from texts_in(each, depth + 1)


def _joined(values: Iterable[Any], most: int) -> str:
    texts = [text for value in values for text in texts_in(value)]
    return "\n".join(dict.fromkeys(texts))[: min(most, INDEXED_CHARACTERS)]


def _first_text(value: Any) -> str:
    return next(texts_in(value), "")


def _year(value: Any) -> int | None:
    found = YEAR.search(_first_text(value)[:100])
    return int(found.group()) if found else None


def _language(settings: Settings, value: Any) -> Language | None:
    said = _first_text(value).casefold()
    named: dict[str, Language] = {"ko": "ko", "kor": "ko", "en": "en", "eng": "en", "other": "other"}
    for language in ("ko", "en", "other"):
        if language in settings.languages:
            named[settings.languages[language].casefold()] = named[language]
    return named.get(said) or ("other" if said and len(said) <= 3 else None)  # noqa: PLR2004 - a code


def _authors(value: Any) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        value = [each.get("name") if isinstance(each, dict) else each for each in value]
    for text in texts_in(value):
        yield from filter(None, BETWEEN_AUTHORS.split(text[:LONGEST_TEXT]))


def _ids(value: Any) -> Iterator[str]:
    for text in texts_in(value):
        try:
            yield Paper.model_validate({"id": text}).id
        except ValidationError:
            continue


def has_hits(answer: dict[str, Any]) -> bool:
    """Check whether an answer has a list of hits, as every successful search has."""
    hits = answer.get("hits")
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


def hits_in(answer: dict[str, Any]) -> list[Any]:
    """Return the hits of one answer, at most `MOST_HITS`; none for a failed search."""
    return list(answer["hits"]["hits"][:MOST_HITS]) if has_hits(answer) else []


def total_in(answer: dict[str, Any]) -> int | None:
    """Return the number of matches: an object since version 7, earlier a number; None for other values."""
    total = answer["hits"].get("total")
    value = total.get("value") if isinstance(total, dict) else total
    return min(value, MOST_PAPERS) if type(value) is int and value >= 0 else None
