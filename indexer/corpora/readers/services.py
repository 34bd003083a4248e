"""Records of services and benchmarks in JSON: Crossref, OpenAlex, arXiv, MIRACL and BEIR.

Crossref: "Crossref REST API format" (api_format.md), responses and the annual public data file. OpenAlex:
"Work object" of the technical documentation, responses and the snapshot. arXiv: the public data set of Cornell
University (Kaggle), and OAI-PMH responses in `arXiv` and `arXivRaw`. MIRACL: the data set
miracl/miracl-corpus of Hugging Face. BEIR: Thakur et al. (NeurIPS 2021).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import DOI_PREFIX, whole_doi
from indexer.corpora.papers import MOST_CITATIONS
from indexer.corpora.readers.bibliography import languages, person, present, type_named, year_within
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.mapping import Table, json_text, json_texts, mapped
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.oai import payloads
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of
from indexer.corpora.readers.xml_records import text_in, texts_in

LONGEST_ABSTRACT = 200_000  # words of an inverted index
NAME_PARTS = 3  # family, given, suffix; further ones are affiliations


def read_miracl(stream: Stream) -> Iterator[Item]:
    """Read passages: `docid` is the id, `text` the abstract."""
    return read_records(stream, partial(_with_id, key="docid"))


def read_beir(stream: Stream) -> Iterator[Item]:
    """Read passages: `_id` is the id, `text` the abstract; `metadata` is kept."""
    return read_records(stream, partial(_with_id, key="_id"))


def read_crossref(stream: Stream) -> Iterator[Item]:
    """Read works: the items of a response, or one per line. The id is the DOI."""
    return read_records(stream, crossref_paper)


def read_openalex(stream: Stream) -> Iterator[Item]:
    """Read works: the results of a response, or one per line. The id is `W…`, as in the references."""
    return read_records(stream, openalex_paper)


def read_arxiv(stream: Stream) -> Iterator[Item]:
    """Read one record per line, or the records of OAI-PMH responses. The id is arXiv's (2101.00001)."""
    if not stream.is_xml:
        return read_records(stream, arxiv_paper)
    return payloads(stream, ("arXiv", "arXivRaw"), lambda element, *_: arxiv_paper(_arxiv_values(element)))


def _with_id(record: Mapping[str, Any], *, key: str) -> Mapping[str, Any]:
    renamed = {"id": record[key]} if key in record else {}
    return {name: value for name, value in record.items() if name != key} | renamed


def _number(record: Any, *, key: str) -> int | None:
    """Return a number of citations, None for other values."""
    value = record.get(key)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CITATIONS
    return value if is_count else None


def _first(value: Any, path: str) -> str:
    return next(iter(json_texts(value, path)), "")


def _objects(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    values = record.get(key)
    return [each for each in values if isinstance(each, Mapping)] if isinstance(values, list) else []


def _kept(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def crossref_paper(work: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a work of Crossref, or a response with one, to Paper's keys."""
    if isinstance(message := work.get("message"), Mapping) and "message-type" in work:
        work = message
    paper = mapped(work, CROSSREF, json_texts)
    kept = _kept(work, "subtype", "funder", "license", "update-to", "relation", "group-title", "archive")
    spoken = languages(_first(work, "language"), paper.get("title", "") or paper.get("abstract", ""))
    return present(kept) | paper | spoken


def _crossref_title(work: Mapping[str, Any]) -> str:
    title, subtitle = (without_markup(_first(work, key)) for key in ("title", "subtitle"))
    return f"{title}: {subtitle}" if subtitle and subtitle not in title else title


def _crossref_names(work: Mapping[str, Any], *, key: str) -> list[str]:
    people = (
        person(_first(each, "family"), _first(each, "given"), _first(each, "suffix")) or _first(each, "name")
        for each in _objects(work, key)
    )
    return list(filter(None, map(without_markup, people)))


def _crossref_year(work: Mapping[str, Any]) -> int | None:
    """Return the year of the first date, whose parts are a list in a list."""
    for name in ("issued", "published-print", "published-online", "published", "created"):
        date = work.get(name)
        parts = date.get("date-parts") if isinstance(date, Mapping) else None
        first = parts[0] if isinstance(parts, list) and parts else None
        if isinstance(first, list) and first and (year := year_within(json_text(first[0]))):
            return year
    return None


CROSSREF_REFERENCE: Table = {
    "text": "unstructured",
    "title": "article-title|volume-title",
    "year": lambda each: year_within(_first(each, "year")),
    "doi": "DOI",
    "authors": lambda each: [without_markup(_first(each, "author"))] if _first(each, "author") else [],
}
CROSSREF: Table = {
    "id": lambda work: whole_doi(_first(work, "DOI")) or _first(work, "DOI"),
    "title": _crossref_title,
    "title2": lambda work: without_markup(
        next(iter((*json_texts(work, "original-title"), *json_texts(work, "title")[1:])), "")
    ),
    "abstract": "abstract",
    "authors": partial(_crossref_names, key="author"),
    "editors": partial(_crossref_names, key="editor"),
    "year": _crossref_year,
    "journal": "container-title",
    "journal_abbreviation": "short-container-title",
    "publisher": "publisher",
    "keywords": ("subject",),
    "doi": "DOI",
    "url": "URL",
    "volume": "volume",
    "issue": "issue",
    "pages": "page|article-number",
    "issn": "ISSN",
    "isbn": "ISBN",
    "type": lambda work: type_named(_first(work, "type")),
    "cited_by_count": partial(_number, key="is-referenced-by-count"),
    "references": lambda work: list(
        dict.fromkeys("".join(doi.split()) for doi in json_texts(work, "reference/DOI"))
    ),
    "reference_list": lambda work: list(
        filter(None, (mapped(each, CROSSREF_REFERENCE, json_texts) for each in _objects(work, "reference")))
    ),
}


def openalex_paper(work: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a work of OpenAlex to Paper's keys."""
    paper = mapped(work, OPENALEX, json_texts)
    kept = _kept(
        work,
        "is_retracted",
        "is_paratext",
        "publication_date",
        "fwci",
        "grants",
        "sustainable_development_goals",
    )
    spoken = languages(_first(work, "language"), paper.get("title", "") or paper.get("abstract", ""))
    return present(kept) | paper | spoken


def _openalex_abstract(work: Mapping[str, Any]) -> str:
    """Restore an abstract from its inverted index, the places of each word."""
    inverted = work.get("abstract_inverted_index")
    placed = [
        (place, word)
        for word, places in (inverted.items() if isinstance(inverted, Mapping) else ())
        for place in (places[:LONGEST_ABSTRACT] if isinstance(places, list) else ())
        if isinstance(place, int) and not isinstance(place, bool)
    ]
    return without_markup(" ".join(word for _, word in sorted(placed, key=lambda each: each[0])))


def _last_part(address: str) -> str:
    """Return the id of an address such as https://openalex.org/W123."""
    return address.rstrip("/").rpartition("/")[2]


OPENALEX: Table = {
    "id": lambda work: _last_part(_first(work, "id")),
    "title": "title|display_name",
    "abstract": _openalex_abstract,
    "authors": lambda work: [
        name
        for each in _objects(work, "authorships")
        if (name := without_markup(_first(each, "author/display_name") or _first(each, "raw_author_name")))
    ],
    "year": lambda work: year_within(_first(work, "publication_year")),
    "journal": "primary_location/source/display_name",
    "publisher": "primary_location/source/host_organization_name",
    "issn": "primary_location/source/issn_l",
    "keywords": ("keywords/display_name",),
    "topics": ("topics/display_name",),
    "doi": lambda work: DOI_PREFIX.sub("", _first(work, "doi")),
    "pmid": lambda work: _last_part(_first(work, "ids/pmid")),
    "url": "primary_location/landing_page_url|id",
    "volume": "biblio/volume",
    "issue": "biblio/issue",
    "pages": lambda work: "-".join(
        dict.fromkeys(json_texts(work, "biblio/first_page") + json_texts(work, "biblio/last_page"))
    ),
    "type": lambda work: type_named(_first(work, "type")),
    "references": lambda work: list(filter(None, map(_last_part, json_texts(work, "referenced_works")))),
    "cited_by_count": partial(_number, key="cited_by_count"),
}


def arxiv_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record of arXiv to Paper's keys; TeX in it is read as text."""
    paper = mapped(record, ARXIV, json_texts)
    return paper | languages("", paper.get("title", "") or paper.get("abstract", ""))


def _arxiv_names(record: Mapping[str, Any]) -> list[str]:
    """Return the names by their parts, or else the text of all names, which is split at commas and "and"."""
    parsed = record.get("authors_parsed")
    parts = (
        [each[:NAME_PARTS] for each in parsed if isinstance(each, list)] if isinstance(parsed, list) else []
    )
    names = [person(*(text_of(json_text(part)) for part in each)) for each in parts if each]
    if not any(names):
        names = text_of(_first(record, "authors")).replace(" and ", ", ").split(", ")
    return list(filter(None, names))


def _arxiv_values(element: Element) -> dict[str, Any]:
    """Return the values of an element with the keys of the dump."""
    values: dict[str, Any] = {child.tag: text_in(child) for child in element if len(child) == 0}
    values["authors_parsed"] = [
        [text_in(author, "keyname"), text_in(author, "forenames"), text_in(author, "suffix")]
        for author in element.iterfind("authors/author")
    ]
    return values | {"versions": [{"created": date} for date in texts_in(element, "version/date")]}


ARXIV: Table = {
    "id": "id",
    "title": lambda record: text_of(_first(record, "title")),
    "abstract": lambda record: text_of(_first(record, "abstract")),
    "authors": _arxiv_names,
    "year": lambda record: year_within(
        next(iter(json_texts(record, "versions/created")), "")
        or _first(record, "created")
        or _first(record, "update_date")
    ),
    "journal": "journal-ref",
    "doi": lambda record: next(iter(_first(record, "doi").split()), ""),
    "url": lambda record: f"https://arxiv.org/abs/{_first(record, 'id')}" if _first(record, "id") else "",
    "keywords": lambda record: _first(record, "categories").split(),
    "arxiv": "id",
    "type": lambda record: "article-journal" if _first(record, "journal-ref") else "article",
    "note": "comments",
    "report_number": "report-no",
    "license": "license",
    "msc_class": "msc-class",
}
