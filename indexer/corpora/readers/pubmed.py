"""PubMed XML: sets of efetch, and the files of the annual baseline and the daily updates.

The elements are documented in "MEDLINE/PubMed XML Element Descriptions and their Attributes". The id is the
PMID.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.items import Found
from indexer.corpora.readers.mapping import Table, first, paper_record, people
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in

TRANSLATED = re.compile(r"\[([^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+)\]\.?")  # a title translated into English
ARTICLE = "MedlineCitation/Article"
JOURNAL = f"{ARTICLE}/Journal"
ISSUE = f"{JOURNAL}/JournalIssue"
BOOK = "BookDocument/Book"
CHAPTER = "BookDocument/ArticleTitle"


def read_pubmed(stream: Stream) -> Iterator[Found]:
    """Read the articles and chapters of books in a file; deleted citations are skipped."""
    for line, element in elements_named(stream, TABLES):
        yield line, start_of(element), article_as_paper(element)


def article_as_paper(element: Element) -> dict[str, Any]:
    """Convert a PubmedArticle or a PubmedBookArticle to Paper's keys."""
    return paper_record(element, TABLES[element.tag])


def _title(element: Element, *, path: str) -> str:
    title = first(element, path) or first(element, f"{BOOK}/BookTitle")
    found = TRANSLATED.fullmatch(title)
    return without_markup(found[1] if found else title)


def _abstract(element: Element, *, path: str) -> str:
    """Join the parts of an abstract, each after its label."""
    labelled = [(part.get("Label", ""), text_in(part)) for part in element.iterfind(f"{path}/AbstractText")]
    return without_markup(" ".join(f"{label}: {text}" if label else text for label, text in labelled if text))


def _address(element: Element) -> str:
    pmid = first(element, "*/PMID")
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""


def _references(element: Element) -> list[str]:
    """Return the PMIDs or DOIs of the references."""
    ids = (
        first(each, IDENTIFIER.format("pubmed")) or first(each, IDENTIFIER.format("doi"))
        for each in element.iter("Reference")
    )
    return list(dict.fromkeys(filter(None, ("".join(each.split()) for each in ids))))


IDENTIFIER = "ArticleIdList/ArticleId[@IdType='{}']"
COMMON: Table = {
    "id": "*/PMID",
    "pmid": "*/PMID",
    "url": _address,
    "language": ".//Language",
    "keywords": ("*/KeywordList/Keyword",),
    "references": _references,
    "reference_list": {".//Reference": {"text": "Citation", "doi": IDENTIFIER.format("doi")}},
}
NAMES = ("LastName", "ForeName|Initials", "Suffix", "CollectiveName")
TABLES: dict[str, Table] = {
    "PubmedArticle": {
        **COMMON,
        "title": partial(_title, path=f"{ARTICLE}/ArticleTitle"),
        "title2": f"{ARTICLE}/VernacularTitle",
        "abstract": partial(_abstract, path=f"{ARTICLE}/Abstract"),
        "abstract2": partial(_abstract, path="MedlineCitation/OtherAbstract"),
        "authors": people(f"{ARTICLE}/AuthorList/Author", *NAMES),
        "year": f"{ISSUE}/PubDate|{ARTICLE}/ArticleDate",
        "journal": f"{JOURNAL}/Title",
        "journal_abbreviation": f"{JOURNAL}/ISOAbbreviation",
        "volume": f"{ISSUE}/Volume",
        "issue": f"{ISSUE}/Issue",
        "pages": f"{ARTICLE}/Pagination/MedlinePgn",
        "issn": f"{JOURNAL}/ISSN",
        "mesh": ("MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName",),
        "doi": f"{ARTICLE}/ELocationID[@EIdType='doi']|PubmedData/{IDENTIFIER.format('doi')}",
        "pmcid": f"PubmedData/{IDENTIFIER.format('pmc')}",
        "publication_types": (f"{ARTICLE}/PublicationTypeList/PublicationType",),
        "type": lambda element: "" if element.find(JOURNAL) is None else "article-journal",
    },
    "PubmedBookArticle": {
        **COMMON,
        "title": partial(_title, path=CHAPTER),
        "abstract": partial(_abstract, path="BookDocument/Abstract"),
        "authors": people("BookDocument/AuthorList/Author", *NAMES),
        "year": f"{BOOK}/PubDate",
        "journal": lambda element: first(element, CHAPTER) and first(element, f"{BOOK}/BookTitle"),
        "publisher": f"{BOOK}/Publisher/PublisherName",
        "doi": f"BookDocument/{IDENTIFIER.format('doi')}",
        "type": lambda element: "chapter" if first(element, CHAPTER) else "book",
    },
}
