"""Records of services and benchmarks in JSON: Crossref, OpenAlex, arXiv, MIRACL and BEIR.

Crossref: "Crossref REST API format" (api_format.md), responses and the annual public data file. OpenAlex:
"Work object" of the technical documentation, responses and the snapshot. arXiv: the data set on Kaggle, and
OAI-PMH responses in `arXiv` and `arXivRaw`. MIRACL: the data set miracl/miracl-corpus of Hugging Face.
BEIR: Thakur et al. (NeurIPS 2021).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.readers.bibliography import person
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.json_records import read_records
from indexer.corpora.readers.mapping import Table, find, first, paper_record, people, text_of_value, texts
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of
from indexer.corpora.readers.xml_records import payloads, text_in

LONGEST_ABSTRACT = 1_000_000  # characters; an inverted index may repeat a long word
NAME_PARTS = 3  # family, given, suffix; further ones are affiliations


def read_arxiv(stream: Stream) -> Iterator[Found]:
    """Read one record per line, or the records of OAI-PMH responses. The id is arXiv's (2101.00001)."""
    if not stream.is_xml:
        return read_records(stream, partial(paper_record, table=ARXIV))
    return payloads(stream, ("arXiv", "arXivRaw"), lambda element, *_: paper_record(element, ARXIV_XML))


def _with_id(record: Mapping[str, Any], *, key: str) -> Mapping[str, Any]:
    renamed = {"id": record[key]} if key in record else {}
    return {name: value for name, value in record.items() if name != key} | renamed


def _kept(*keys: str) -> Table:
    """Return rules for values that are kept unchanged."""
    return {key: partial(lambda record, key: record.get(key), key=key) for key in keys}


def _crossref_paper(work: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a work, or a response with one."""
    message = work.get("message")
    return paper_record(
        message if isinstance(message, Mapping) and "message-type" in work else work, CROSSREF
    )


def _crossref_title(work: Mapping[str, Any]) -> str:
    title, subtitle = (without_markup(first(work, key)) for key in ("title", "subtitle"))
    return f"{title}: {subtitle}" if title and subtitle and subtitle not in title else title or subtitle


CROSSREF: Table = {
    **_kept("subtype", "funder", "license", "update-to", "relation", "group-title", "archive"),
    "id": lambda work: whole_doi(first(work, "DOI")) or first(work, "DOI"),
    "title": _crossref_title,
    "title2": lambda work: without_markup(
        next(iter((*texts(work, "original-title"), *texts(work, "title")[1:])), "")
    ),
    "abstract": "abstract",
    "language": "language",
    "authors": people("author", "family", "given", "suffix", "name"),
    "editors": people("editor", "family", "given", "suffix", "name"),
    "year": "issued/date-parts|published-print/date-parts|published-online/date-parts|published/date-parts"
    "|created/date-parts",
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
    "type": "type",
    "cited_by_count": "is-referenced-by-count",
    "references": lambda work: list(
        dict.fromkeys("".join(doi.split()) for doi in texts(work, "reference/DOI"))
    ),
    "reference_list": {
        "reference": {
            "text": "unstructured",
            "title": "article-title|volume-title",
            "year": "year",
            "doi": "DOI",
            "authors": ("author",),
        }
    },
}


def _openalex_abstract(work: Mapping[str, Any]) -> str:
    """Restore an abstract from its inverted index, the places of each word."""
    inverted = work.get("abstract_inverted_index")
    placed = [
        (place, word)
        for word, places in (inverted.items() if isinstance(inverted, Mapping) else ())
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, int) and not isinstance(place, bool)
    ]
    words = [word for _, word in sorted(placed, key=itemgetter(0))]
    ends = accumulate(map(len, words))
    return without_markup(
        " ".join(word for word, end in zip(words, ends, strict=True) if end <= LONGEST_ABSTRACT)
    )


def _last_parts(work: Mapping[str, Any], path: str) -> list[str]:
    """Return the ids of addresses such as https://openalex.org/W123."""
    return list(filter(None, (address.rstrip("/").rpartition("/")[2] for address in texts(work, path))))


OPENALEX: Table = {
    **_kept(
        "is_retracted", "is_paratext", "publication_date", "fwci", "grants", "sustainable_development_goals"
    ),
    "id": lambda work: next(iter(_last_parts(work, "id")), ""),
    "title": "title|display_name",
    "abstract": _openalex_abstract,
    "language": "language",
    "authors": lambda work: [
        without_markup(name)
        for each in find(work, "authorships")
        if (name := first(each, "author/display_name") or first(each, "raw_author_name"))
    ],
    "year": "publication_year",
    "journal": "primary_location/source/display_name",
    "publisher": "primary_location/source/host_organization_name",
    "issn": "primary_location/source/issn_l",
    "keywords": ("keywords/display_name",),
    "topics": ("topics/display_name",),
    "doi": "doi",
    "pmid": "ids/pmid",
    "url": "primary_location/landing_page_url|id",
    "volume": "biblio/volume",
    "issue": "biblio/issue",
    "pages": lambda work: "-".join(
        dict.fromkeys(texts(work, "biblio/first_page") + texts(work, "biblio/last_page"))
    ),
    "type": "type",
    "references": lambda work: _last_parts(work, "referenced_works"),
    "cited_by_count": "cited_by_count",
}


def _tex(path: str, record: Any) -> str:
    return text_of(first(record, path))


def _arxiv_names(record: Mapping[str, Any]) -> list[str]:
    """Return the names by their parts, or else the text of all names."""
    parsed = record.get("authors_parsed")
    parts = [each for each in parsed if isinstance(each, list)] if isinstance(parsed, list) else []
    names = (person(*(text_of(text_of_value(part)) for part in each[:NAME_PARTS])) for each in parts if each)
    return list(filter(None, names)) or _split_names(first(record, "authors"))


def _arxiv_xml_names(element: Element) -> list[str]:
    parts = ("keyname", "forenames", "suffix")
    authors = element.iterfind("authors/author")
    names = [person(*(text_of(text_in(author, part)) for part in parts)) for author in authors]
    return names or _split_names(text_in(element, "authors"))


def _split_names(names: str) -> list[str]:
    return list(filter(None, text_of(names).replace(" and ", ", ").split(", ")))


ARXIV: Table = {
    "id": "id",
    "title": partial(_tex, "title"),
    "abstract": partial(_tex, "abstract"),
    "authors": _arxiv_names,
    "year": "versions/created|created|update_date",
    "journal": "journal-ref",
    "doi": "doi",
    "url": lambda record: f"https://arxiv.org/abs/{first(record, 'id')}" if first(record, "id") else "",
    "keywords": lambda record: first(record, "categories").split(),
    "arxiv": "id",
    "type": lambda record: "article-journal" if first(record, "journal-ref") else "article",
    "note": "comments",
    "report_number": "report-no",
    "license": "license",
    "msc_class": "msc-class",
}
ARXIV_XML: Table = {**ARXIV, "authors": _arxiv_xml_names, "year": "version/date|created|updated"}

# Passages: the id is `docid` or `_id`, the abstract `text`; `metadata` is kept.
read_miracl = partial(read_records, renamed=partial(_with_id, key="docid"))
read_beir = partial(read_records, renamed=partial(_with_id, key="_id"))
# Works: the array of a response, or one per line. The id is the DOI; `W…`, as in the references.
read_crossref = partial(read_records, renamed=_crossref_paper)
read_openalex = partial(read_records, renamed=partial(paper_record, table=OPENALEX))
