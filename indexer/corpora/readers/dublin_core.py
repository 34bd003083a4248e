"""Dublin Core: `oai_dc` records of OAI-PMH responses or alone, also with terms of qualified Dublin Core.

The elements are documented in "DCMI Metadata Terms". Repositories repeat them: titles and descriptions in
several languages, several dates and identifiers.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import (
    in_language,
    language_of_code,
    languages,
    person_named,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.cells import without_markup
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.oai import payloads
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import text_in, texts_in

DATES = ("issued", "date", "created", "available")
READ = frozenset(
    "title alternative creator contributor description abstract subject publisher language identifier type "
    "isPartOf".split()
).union(DATES)
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents", "language"))
# The name of a journal before the issue, as Open Journal Systems writes dc:source.
ISSUE = re.compile(r"(?P<journal>[^;]{3,300});\s*(?:vol|no|제|\d+\s*권)", re.IGNORECASE)
ADDRESS = re.compile(r"https?://\S+")


def read_dublin_core(stream: Stream) -> Iterator[Item]:
    """Read the records of a file."""
    return payloads(stream, "dc", record_of)


def record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return the record of an element `dc`, in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    titles = texts_in(element, "title") + texts_in(element, "alternative")
    abstracts = texts_in(element, "abstract") or texts_in(element, "description")
    abstracts = [text for text in map(without_markup, abstracts) if text]
    declared = text_in(element, "language")
    title, title2 = in_language(titles, language_of_code(declared) or "")
    spoken = languages(declared, title, *([] if title else abstracts))
    abstract, abstract2 = in_language(abstracts, spoken["lang"])
    identifiers = texts_in(element, "identifier")
    doi = next(filter(None, map(whole_doi, identifiers)), "")
    addresses = [text for text in identifiers if ADDRESS.fullmatch(text) and not whole_doi(text)]
    sources = texts_in(element, "source")
    issue = next(filter(None, map(ISSUE.match, sources)), None)
    kinds = texts_in(element, "type")
    key = next((text for text in identifiers if text not in addresses), "")
    values = {
        "id": identifier or record_id(stream, doi=doi, key=key, content=(title, abstract)),
        "title": title,
        "title2": title2,
        "abstract": abstract,
        "abstract2": abstract2,
        "authors": list(map(person_named, texts_in(element, "creator"))),
        "contributors": list(map(person_named, texts_in(element, "contributor"))),
        "year": _year(element),
        "journal": text_in(element, "isPartOf") or (issue["journal"].strip() if issue else ""),
        "publisher": text_in(element, "publisher"),
        "keywords": split_keywords(texts_in(element, "subject")),
        "doi": doi,
        "url": addresses[0] if addresses else "",
        "type": type_named(kinds[0].rpartition("/")[2]) if kinds else "",
        "identifiers": [text for text in identifiers if text not in {doi, *addresses[:1]}],
    }
    return _further(element) | present(values) | spoken


def _year(element: Element) -> int | None:
    """Return the first year of the dates. Repositories also give the dates of deposit, which are later."""
    for name in DATES:
        years = [year for text in texts_in(element, name) if (year := year_within(text))]
        if years:
            return min(years)
    return None


def _further(element: Element) -> dict[str, Any]:
    """Return the texts of the other elements."""
    values: dict[str, list[str]] = {}
    for child in element:
        if child.tag not in READ and (text := text_in(child)):
            values.setdefault(child.tag, []).append(text)
    return {
        f"dc:{name}" if name in RESERVED else name: texts[0] if len(texts) == 1 else texts
        for name, texts in values.items()
    }
