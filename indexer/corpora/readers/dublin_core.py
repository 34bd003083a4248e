"""Dublin Core: simple (oai_dc) and qualified (dcterms) elements in files and harvested records.

The elements of DCMI Metadata Terms (https://www.dublincore.org/specifications/dublin-core/dcmi-terms/) are
recognised by their local names, so that all containers (oai_dc, qualifieddc) are read. An element may be
repeated, also once per language.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import Language, language_named, language_of
from indexer.corpora.readers.bibliography import (
    drop_empty,
    parts_of,
    person_named,
    record_id,
    type_named,
    year_within,
)
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import payloads, text_in

BETWEEN_PARTS = re.compile(r"\s*[;|]\s*")
PARALLEL_TITLE = re.compile(r"\s+=\s+")  # between a title and its translation (ISBD)
WEB_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
DOI_IN_TEXT = re.compile(r"(?:doi:\s*|doi\.org/)(10\.\S+)", re.IGNORECASE)
STANDARD_NUMBER = re.compile(r"(?:(?:e|p)?issn|isbn|urn|uci)?[:\s]*[\dxX-]{8,17}", re.IGNORECASE)
AFTER_JOURNAL = re.compile(
    r"\s*(?:;|,\s*(?:v|vol|no|pp?|제)\.?\s*\d|\s\d+\s*\(|,\s*\d|\s제\d).*", re.IGNORECASE
)
NAMES = frozenset(
    "title alternative abstract description language creator contributor subject issued date created "
    "isPartOf source publisher identifier type rights relation".split()
)
ABSTRACT_CHARACTERS = 200  # shorter descriptions beside a longer one are notes ("Thesis (Ph.D.)")


class Value(NamedTuple):
    """A value of an element, and its language by `xml:lang`, otherwise by its script."""

    text: str
    lang: Language


def read_dublin_core(stream: Stream) -> Iterator[Found]:
    """Read the records of a file or of OAI-PMH responses."""
    return payloads(stream, ("dc", "qualifieddc", "metadata"), record_of)


def record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return the record of an element, in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    record = paper_record(element)
    if not identifier:
        key = next(iter(record.get("identifiers", ())), "")
        content = (record.get("title", ""), record.get("abstract", ""))
        identifier = record_id(stream, doi=record.get("doi", ""), key=key, content=content)
    return {"id": identifier} | record


def elements_of(element: Element) -> dict[str, list[Value]]:
    """Return the values of the elements in a record by name, in document order."""
    found = defaultdict[str, list[Value]](list)
    for each in element.iter():
        if each.tag in NAMES and (text := without_markup(text_in(each))):
            declared = "" if each.tag == "language" else each.get("lang", "")
            value = Value(text, language_named(declared.replace("_", "-")) or language_of(text))
            if value not in found[each.tag]:
                found[each.tag].append(value)
    return dict(found)


def paper_record(element: Element) -> dict[str, Any]:
    """Return a record with Paper's keys but the id; elements without such a key keep their names.

    Titles and descriptions in two languages become title and title2, abstract and abstract2; the language of
    the paper, by `language` or by its title, comes first. Descriptions of one language are joined. Beside one
    of at least 200 characters, shorter ones are notes. The year is the earliest of the dates, because
    repositories also list the days of submission and release.
    """
    values = elements_of(element)

    def texts(*names: str) -> list[str]:
        return list(dict.fromkeys(value.text for name in names for value in values.get(name, ())))

    titles = [*_parallel(values.get("title", ())), *values.get("alternative", ())]
    abstracts = values.get("abstract") or values.get("description", [])
    lang = (titles or abstracts or [Value("", "other")])[0].lang
    if declared := texts("language"):
        lang = language_named(declared[0].replace("_", "-")) or "other"
    own, other = _by_language(titles, lang)
    long = [value for value in abstracts if len(value.text) >= ABSTRACT_CHARACTERS] or abstracts
    own_abstracts, other_abstracts = _by_language(long, lang)
    if other and own_abstracts and not other_abstracts and all(value.lang != lang for value in long):
        own_abstracts, other_abstracts = [], own_abstracts  # belongs to the other title
    identifiers = texts("identifier")
    addresses = [text for text in identifiers if WEB_ADDRESS.fullmatch(text)]
    in_text = filter(None, map(DOI_IN_TEXT.search, identifiers))
    dois = [*identifiers, *(found[1].rstrip(".,;)") for found in in_text)]
    dates = map(year_within, texts("issued", "date", "created"))
    return drop_empty(
        {
            "title": next(iter(own), ""),
            "title2": next(iter(other), ""),
            "abstract": "\n".join(own_abstracts),
            "abstract2": "\n".join(other_abstracts),
            "lang": lang,
            "authors": list(map(person_named, parts_of(texts("creator"), BETWEEN_PARTS))),
            "keywords": parts_of(texts("subject"), BETWEEN_PARTS),
            "year": min(filter(None, dates), default=None),
            "journal": _journal([*values.get("isPartOf", ()), *values.get("source", ())], lang),
            "publisher": next(iter(texts("publisher")), ""),
            "doi": next(filter(None, map(whole_doi, dois)), ""),
            "url": min(addresses, key=lambda text: "doi.org/" in text, default=""),
            "other_titles": [title.text for title in titles if title.text not in (*own[:1], *other[:1])],
            "notes": [value.text for value in abstracts if value not in long]
            + (texts("description") if "abstract" in values else []),
            "identifiers": [text for text in identifiers if text not in addresses],
            "type": type_named(next(iter(texts("type")), "").rpartition("/")[2]),
            "rights": texts("rights"),
            "relation": texts("relation"),
            "contributors": texts("contributor"),
        }
    )


def _parallel(titles: Iterable[Value]) -> list[Value]:
    """Split a title "우리말 = English" at the sign if its sides are in different languages."""
    found: list[Value] = []
    for title in titles:
        sides = [Value(side, language_of(side)) for side in PARALLEL_TITLE.split(title.text)]
        differ = sorted(side.lang for side in sides) == ["en", "ko"]
        found += sides if differ else [title]
    return found


def _by_language(values: Sequence[Value], lang: Language) -> tuple[list[str], list[str]]:
    """Return the texts in a language, or in that of the first text, and those in the next language."""
    order = sorted(dict.fromkeys(value.lang for value in values), key=lambda each: each != lang)
    groups = [[value.text for value in values if value.lang == each] for each in order] + [[], []]
    return groups[0], groups[1]


def _journal(values: Iterable[Value], lang: Language) -> str:
    """Return the journal of a citation such as "Journal of Rice; Vol. 3 No. 2 (2014); 12-20"."""
    named = [
        value for value in values if not STANDARD_NUMBER.fullmatch(value.text) and "://" not in value.text
    ]
    chosen = next((value for value in named if value.lang == lang), None) or next(iter(named), None)
    return AFTER_JOURNAL.sub("", chosen.text) if chosen else ""
