"""PubMed XML: sets of efetch, and the files of the annual baseline and the daily updates.

The elements are documented in "MEDLINE/PubMed XML Element Descriptions and their Attributes". The id is the
PMID.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import languages, person, present, year_within
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.items import DeadLetter, Item, admitted
from indexer.corpora.readers.mapping import Table, mapped
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

ARTICLE = "MedlineCitation/Article"
TRANSLATED = re.compile(r"\[(.*)\]\.?", re.DOTALL)  # a title translated into English


def read_pubmed(stream: Stream) -> Iterator[Item]:
    """Read the articles and chapters of books in a file; deleted citations are skipped."""
    for found in elements_named(stream, TABLES):
        if isinstance(found, DeadLetter):
            yield found
            continue
        line, element = found
        record = mapped(element, TABLES[element.tag] | COMMON, texts_in)
        spoken = languages(
            text_in(element, ".//Language"), record.get("title", "") or record.get("abstract", "")
        )
        yield admitted(record | spoken, stream.name, line, start_of(element))


def _title(element: Element) -> str:
    title = text_in(element, ".//ArticleTitle") or text_in(element, "BookDocument/Book/BookTitle")
    return without_markup(TRANSLATED.sub(r"\1", title))


def _abstract(element: Element, *, path: str) -> str:
    """Join the parts of an abstract, each after its label."""
    labelled = [(part.get("Label", ""), text_in(part)) for part in element.iterfind(f"{path}/AbstractText")]
    return without_markup(" ".join(f"{label}: {text}" if label else text for label, text in labelled if text))


def _authors(element: Element) -> list[str]:
    names = (
        text_in(author, "CollectiveName")
        or person(
            text_in(author, "LastName"),
            text_in(author, "ForeName") or text_in(author, "Initials"),
            text_in(author, "Suffix"),
        )
        for author in element.iterfind(".//AuthorList[1]/Author")
    )
    return list(filter(None, map(without_markup, names)))


def _first_year(element: Element) -> int | None:
    dates = ("Journal/JournalIssue/PubDate", "ArticleDate")
    years = (year_within(text_in(element, ff"{ARTICLE}/{date}")) for date in dates)
    return next(filter(None, years), None)


def _listed(element: Element) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text of each reference, and its identifiers by type."""
    for reference in element.iterfind(".//ReferenceList//Reference"):
        ids = reversed(reference.findall("ArticleIdList/ArticleId"))
        yield text_in(reference, "Citation"), {each.get("IdType", ""): text_in(each) for each in ids}


def _references(element: Element) -> list[str]:
    """Return the PMIDs or DOIs of the references."""
    ids = (found.get("pubmed", "") or "".join(found.get("doi", "").split()) for _, found in _listed(element))
    return list(dict.fromkeys(filter(None, ids)))


def _entries(element: Element) -> list[dict[str, Any]]:
    entries = (present({"text": text, "doi": ids.get("doi", "")}) for text, ids in _listed(element))
    return list(filter(None, entries))


COMMON: Table = {
    "title": _title,
    "authors": _authors,
    "references": _references,
    "reference_list": _entries,
}
CITATION: Table = {
    "id": "MedlineCitation/PMID",
    "title2": f"{ARTICLE}/VernacularTitle",
    "abstract": partial(_abstract, path=f"{ARTICLE}/Abstract"),
    "abstract2": partial(_abstract, path="MedlineCitation/OtherAbstract"),
    "year": _first_year,
    "journal": f"{ARTICLE}/Journal/Title",
    "journal_abbreviation": f"{ARTICLE}/Journal/ISOAbbreviation",
    "volume": f"{ARTICLE}/Journal/JournalIssue/Volume",
    "issue": f"{ARTICLE}/Journal/JournalIssue/Issue",
    "pages": f"{ARTICLE}/Pagination/MedlinePgn",
    "issn": f"{ARTICLE}/Journal/ISSN",
    "keywords": ("MedlineCitation/KeywordList/Keyword",),
    "mesh": ("MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName",),
    "doi": f"{ARTICLE}/ELocationID[@EIdType='doi']|PubmedData/ArticleIdList/ArticleId[@IdType='doi']",
    "pmid": "MedlineCitation/PMID",
    "pmcid": "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']",
    "url": lambda element: _address(text_in(element, "MedlineCitation/PMID")),
    "publication_types": (f"{ARTICLE}/PublicationTypeList/PublicationType",),
    "type": lambda element: (
        "article-journal" if element.find(f"{ARTICLE}/Journal") is not None else ""
    ),
}
BOOK: Table = {
    "id": "BookDocument/PMID",
    "abstract": partial(_abstract, path="BookDocument/Abstract"),
    "year": lambda element: year_within(text_in(element, "BookDocument/Book/PubDate")),
    "journal": lambda element: (
        text_in(element, "BookDocument/Book/BookTitle") if _is_chapter(element) else ""
    ),
    "publisher": "BookDocument/Book/Publisher/PublisherName",
    "keywords": ("BookDocument/KeywordList/Keyword",),
    "doi": "BookDocument/ArticleIdList/ArticleId[@IdType='doi']",
    "pmid": "BookDocument/PMID",
    "url": lambda element: _address(text_in(element, "BookDocument/PMID")),
    "type": lambda element: "chapter" if _is_chapter(element) else "book",
}
TABLES = {"PubmedArticle": CITATION, "PubmedBookArticle": BOOK}


def _is_chapter(element: Element) -> bool:
    return bool(text_in(element, "BookDocument/ArticleTitle"))


def _address(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""
