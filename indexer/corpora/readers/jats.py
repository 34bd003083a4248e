"""JATS (NISO Z39.96): articles of PubMed Central, KoreaMed Synapse and publishers, with their full texts."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import languages, person, present, record_id, year_within
from indexer.corpora.readers.items import DeadLetter, Item, admitted
from indexer.corpora.readers.jats_text import body_of, paragraphs, title_of
from indexer.corpora.readers.oai import RECORD, identifier_of, is_deleted
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

NAME = "article"
META = "front/article-meta"
JOURNAL = "front/journal-meta"
CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
NO_ABSTRACTS = frozenset({"graphical", "teaser", "toc", "highlights", "key-points", "video"})
TYPES = {
    **dict.fromkeys(("research-article", "review-article", "case-report", "letter", "brief-report"), ""),
    "book-review": "review-book",
}


def read_jats(stream: Stream) -> Iterator[Item]:
    """Read the article of a file, or the articles of a set or of OAI-PMH responses."""
    for found in elements_named(stream, {NAME, RECORD}):
        if isinstance(found, DeadLetter):
            yield found
            continue
        line, element = found
        if is_deleted(element):
            continue
        article = element if element.tag == NAME else element.find(f".//{NAME}")
        record = record_of(element if article is None else article, identifier_of(element), stream)
        yield admitted(record, stream.name, line, start_of(element))


def record_of(article: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return the record of an article, in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    meta, journal = article.find(META), article.find(JOURNAL)
    ids = _identifiers(meta)
    title = _title(meta, "title-group", "article-title", "subtitle")
    abstracts = _abstracts(meta)
    sections, body = body_of(article.find("body"))
    values = {
        "title": title,
        "title2": _title(meta, "title-group/trans-title-group", "trans-title", "trans-subtitle")
        or _title(meta, "title-group", "trans-title", "trans-subtitle"),
        "abstract": abstracts[0],
        "abstract2": abstracts[1],
        "authors": _authors(meta),
        "year": _year(meta),
        "journal": text_in(journal, ".//journal-title"),
        "publisher": text_in(journal, "publisher/publisher-name"),
        "keywords": list(dict.fromkeys(texts_in(meta, "kwd-group//kwd"))),
        "subjects": texts_in(meta, "article-categories//subject"),
        "volume": text_in(meta, "volume"),
        "issue": text_in(meta, "issue"),
        "pages": "-".join(dict.fromkeys(filter(None, (text_in(meta, "fpage"), text_in(meta, "lpage")))))
        or text_in(meta, "elocation-id"),
        "issn": text_in(journal, "issn"),
        "doi": ids.get("doi", ""),
        "pmid": ids.get("pmid", ""),
        "pmcid": ids.get("pmcid", "") or ids.get("pmc", ""),
        "arxiv": ids.get("arxiv", ""),
        "license": _license(meta),
        "type": TYPES.get(article.get("article-type", ""), article.get("article-type", ""))
        or "article-journal",
        "sections": sections,
        "body": body,
        **_references(article),
    }
    key = ids.get("pmcid", "") or ids.get("pmc", "") or ids.get("pmid", "") or ids.get("publisher-id", "")
    accession = f"PMC{key}" if key.isdigit() and key == ids.get("pmc") else key
    number = record_id(stream, doi=ids.get("doi", ""), accession=accession, content=(title, body[:1000]))
    return present({"id": identifier or number, **values}) | languages(article.get("lang", ""), title)


def _identifiers(meta: Element | None) -> dict[str, str]:
    found = [] if meta is None else meta.findall("article-id")
    return {identifier.get("pub-id-type", ""): text_in(identifier) for identifier in found}


def _title(meta: Element | None, path: str, *names: str) -> str:
    """Return a title with its subtitle."""
    group = meta.find(path) if meta is not None else None
    if group is None:
        return ""
    return ": ".join(filter(None, (title_of(group.find(name)) for name in names)))


def _abstracts(meta: Element | None) -> tuple[str, str]:
    """Return the abstract and the translated one."""
    if meta is None:
        return "", ""
    texts = [
        [paragraphs(each) for each in meta.iterfind(name) if each.get("abstract-type") not in NO_ABSTRACTS]
        for name in ("abstract", "trans-abstract")
    ]
    own, translated = (list(filter(None, found)) for found in texts)
    return next(iter(own), ""), next(iter([*translated, *own[1:]]), "")


def _license(meta: Element | None) -> str:
    license_ = None if meta is None else meta.find("permissions/license")
    return "" if license_ is None else license_.get("href", "") or text_in(license_)


def _authors(meta: Element | None) -> list[str]:
    contributors = [] if meta is None else meta.findall("contrib-group/contrib")
    authors = (
        _name(each) for each in contributors if each.get("contrib-type", "author") in {"author", "collab"}
    )
    return list(dict.fromkeys(filter(None, authors)))


def _name(contributor: Element) -> str:
    """Return the first name of a contributor, of several in different scripts."""
    name = contributor.find(".//name")
    if name is not None:
        return person(text_in(name, "surname"), text_in(name, "given-names"), text_in(name, "suffix"))
    return text_in(contributor, ".//string-name") or text_in(contributor, "collab")


def _year(meta: Element | None) -> int | None:
    """Return the first year of publication."""
    years = (year_within(text) for text in texts_in(meta, "pub-date/year"))
    return min((year for year in years if year), default=None)


def _references(article: Element) -> dict[str, Any]:
    """Return the identifiers and entries of the reference list."""
    ids: list[str] = []
    entries: list[dict[str, Any]] = []
    for reference in article.iterfind("back//ref-list//ref"):
        found = (reference.find(f".//{name}") for name in CITATIONS)
        citation = next((each for each in found if each is not None), reference)
        identifiers = {each.get("pub-id-type", ""): text_in(each) for each in citation.iterfind(".//pub-id")}
        doi = identifiers.get("doi", "")
        names = (
            person(text_in(name, "surname"), text_in(name, "given-names")) for name in citation.iter("name")
        )
        entry = {
            "text": " ".join(" ".join(citation.itertext()).split()),
            "title": text_in(citation, ".//article-title"),
            "year": year_within(text_in(citation, ".//year")),
            "doi": doi,
            "authors": list(filter(None, names)),
        }
        entries.append(present(entry))
        ids.append("".join((doi or identifiers.get("pmid", "")).split()))
    return {
        "references": list(dict.fromkeys(filter(None, ids))),
        "reference_list": list(filter(None, entries)),
    }
