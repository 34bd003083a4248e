"""PubMed XML: sets of efetch, and the files of the annual baseline and the daily updates.

The elements are documented in "MEDLINE/PubMed XML Element Descriptions and their Attributes". The id is the
PMID.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import languages, person, present, year_within
from indexer.corpora.readers.items import DeadLetter, Item, admitted
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

TRANSLATED = re.compile(r"\[(.*)\]\.?", re.DOTALL)  # a title translated into English
NAMES = {"PubmedArticle", "PubmedBookArticle"}
ADDRESS = "https://pubmed.ncbi.nlm.nih.gov"
ARTICLE = "MedlineCitation/Article"
BOOK = "BookDocument"


def read_pubmed(stream: Stream) -> Iterator[Item]:
    """Read the articles and chapters of books in a file; deleted citations are skipped."""
    for found in elements_named(stream, NAMES):
        if isinstance(found, DeadLetter):
            yield found
        else:
            line, element = found
            record = article_as_paper(element) if element.tag == "PubmedArticle" else _book(element)
            yield admitted(record, stream.name, line, start_of(element))


def article_as_paper(element: Element) -> dict[str, Any]:
    """Convert a PubmedArticle to Paper's keys."""
    citation, article = element.find("MedlineCitation"), element.find(ARTICLE)
    journal = article.find("Journal") if article is not None else None
    dates = [text_in(journal, "JournalIssue/PubDate"), text_in(article, "ArticleDate")]
    identifiers = _identifiers(element.find("PubmedData/ArticleIdList"))
    doi = text_in(article, "ELocationID[@EIdType='doi']") or identifiers.get("doi", "")
    values = {
        "title2": text_in(article, "VernacularTitle"),
        "abstract2": _abstract(citation, "OtherAbstract"),
        "year": next(filter(None, map(year_within, dates)), None),
        "journal": text_in(journal, "Title"),
        "journal_abbreviation": text_in(journal, "ISOAbbreviation"),
        "volume": text_in(journal, "JournalIssue/Volume"),
        "issue": text_in(journal, "JournalIssue/Issue"),
        "pages": text_in(article, "Pagination/MedlinePgn"),
        "issn": text_in(journal, "ISSN"),
        "keywords": list(dict.fromkeys(texts_in(citation, "KeywordList/Keyword"))),
        "mesh": texts_in(citation, "MeshHeadingList/MeshHeading/DescriptorName"),
        "doi": doi,
        "pmcid": identifiers.get("pmc", ""),
        "publication_types": texts_in(article, "PublicationTypeList/PublicationType"),
        "type": "article-journal" if journal is not None else "",
        **_references(element.findall("PubmedData/ReferenceList//Reference")),
    }
    title = TRANSLATED.sub(r"\1", text_in(article, "ArticleTitle"))
    return _common(article, text_in(citation, "PMID"), title, values)


def _book(element: Element) -> dict[str, Any]:
    document = element.find(BOOK)
    values = {
        "year": year_within(text_in(document, "Book/PubDate")),
        "journal": text_in(document, "Book/BookTitle") if text_in(document, "ArticleTitle") else "",
        "publisher": text_in(document, "Book/Publisher/PublisherName"),
        "keywords": list(dict.fromkeys(texts_in(document, "KeywordList/Keyword"))),
        "doi": _identifiers(document.find("ArticleIdList") if document is not None else None).get("doi", ""),
        "type": "chapter" if text_in(document, "ArticleTitle") else "book",
        **_references(element.findall(f"{BOOK}/ReferenceList//Reference")),
    }
    title = text_in(document, "ArticleTitle") or text_in(document, "Book/BookTitle")
    return _common(document, text_in(document, "PMID"), title, values)


def _common(article: Element | None, pmid: str, title: str, values: dict[str, Any]) -> dict[str, Any]:
    """Add the values that articles and books have in the same places."""
    abstract = _abstract(article, "Abstract")
    shared = {
        "id": pmid,
        "title": title,
        "abstract": abstract,
        "authors": _authors(article),
        "url": f"{ADDRESS}/{pmid}/" if pmid else "",
        "pmid": pmid,
    }
    return present(shared | values) | languages(text_in(article, "Language"), title or abstract)


def _abstract(element: Element | None, name: str) -> str:
    """Join the parts of an abstract, each after its label."""
    parts = [] if element is None else element.findall(f"{name}/AbstractText")
    labelled = ((part.get("Label", ""), text_in(part)) for part in parts)
    return " ".join(f"{label}: {text}" if label else text for label, text in labelled if text)


def _authors(article: Element | None) -> list[str]:
    authors = [] if article is None else article.findall("AuthorList/Author")
    names = (
        text_in(author, "CollectiveName")
        or person(
            text_in(author, "LastName"),
            text_in(author, "ForeName") or text_in(author, "Initials"),
            text_in(author, "Suffix"),
        )
        for author in authors
    )
    return list(filter(None, names))


def _identifiers(listed: Element | None) -> dict[str, str]:
    """Return the identifiers of an ArticleIdList by their types."""
    found = [] if listed is None else listed.findall("ArticleId")
    return {identifier.get("IdType", ""): text_in(identifier) for identifier in reversed(found)}


def _references(references: list[Element]) -> dict[str, Any]:
    """Return the PMIDs and DOIs of references, and their texts."""
    identified = [_identifiers(reference.find("ArticleIdList")) for reference in references]
    entries = [
        present({"text": text_in(reference, "Citation"), "doi": identifiers.get("doi", "")})
        for reference, identifiers in zip(references, identified, strict=True)
    ]
    ids = (
        identifiers.get("pubmed", "") or "".join(identifiers.get("doi", "").split())
        for identifiers in identified
    )
    return {
        "references": list(dict.fromkeys(filter(None, ids))),
        "reference_list": list(filter(None, entries)),
    }
