"""JATS (NISO Z39.96): articles of PubMed Central, KoreaMed Synapse and publishers, with their full texts."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import record_id, year_within
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.mapping import Table, first, map_record, paper_record, people, texts
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import payloads, text_in

META = "front/article-meta"
JOURNAL = "front/journal-meta"
CITATIONS = frozenset({"mixed-citation", "element-citation", "citation", "nlm-citation"})
NO_ABSTRACTS = frozenset({"graphical", "teaser", "toc", "highlights", "key-points", "video"})
TYPES = dict.fromkeys(("research-article", "review-article", "case-report", "letter", "brief-report"), "")
TYPES["book-review"] = "review-book"
# Elements without sentences, elements of the text, and marks of footnotes.
NO_TEXT = frozenset(
    "fig fig-group table-wrap table-wrap-group disp-formula supplementary-material graphic".split()
)
PARAGRAPHS = frozenset("p disp-quote list-item def-item boxed-text verse-group statement".split())
MARKS = frozenset({"xref", "fn"})


def read_jats(stream: Stream) -> Iterator[Found]:
    """Read the article of a file, or the articles of a set or of OAI-PMH responses."""
    return payloads(stream, ("article",), record_of)


def record_of(article: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return the record of an article, in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    record = paper_record(article, ARTICLE)
    key = record.get("pmcid", "") or record.get("pmid", "") or first(article, _id("publisher-id"))
    accession = f"PMC{key}" if key.isdigit() and key == first(article, _id("pmc")) else key
    content = (record.get("title", ""), record.get("body", "")[:1000])
    number = record_id(stream, doi=record.get("doi", ""), accession=accession, content=content)
    return {"id": identifier or number} | record


def _id(kind: str) -> str:
    return f"{META}/article-id[@pub-id-type='{kind}']"


def _title(article: Element, *, paths: tuple[str, ...]) -> str:
    """Return a title with its subtitle, without marks of footnotes."""
    texts = (text_in(article, f"{META}/title-group/{path}", NO_TEXT | MARKS) for path in paths)
    return without_markup(": ".join(filter(None, texts)))


def _abstracts(article: Element) -> list[str]:
    """Return the abstract and the translated one."""
    own, translated = (
        [
            text
            for each in article.iterfind(f"{META}/{name}")
            if each.get("abstract-type") not in NO_ABSTRACTS and (text := _abstract(each))
        ]
        for name in ("abstract", "trans-abstract")
    )
    return [*own[:1], *([""] if not own else []), *translated, *own[1:], ""]


def _abstract(element: Element) -> str:
    """Return the text of an abstract, each section after its title."""
    parts = [
        f"{text.rstrip(':')}:" if is_title else text
        for is_title, text, level in _blocks(element, 0)
        if text and not (is_title and level == 0)  # "Abstract"
    ]
    return without_markup(" ".join(parts) or text_in(element))


def _body(article: Element) -> str:
    """Return the text of the body, with headings on separate lines."""
    body = article.find("body")
    blocks = _blocks(body, 0) if body is not None else ()
    parts = (f"{'#' * (level + 1)} {text}" if is_title else text for is_title, text, level in blocks if text)
    return "\n\n".join(parts)


def _blocks(element: Element, level: int) -> Iterator[tuple[bool, str, int]]:
    """Yield (whether it is a title, text, level) of titles and paragraphs, in order."""
    for child in element:
        if child.tag == "title":
            yield True, text_in(child), level
        elif child.tag in PARAGRAPHS:
            yield False, text_in(child, without=NO_TEXT), level
        elif child.tag not in NO_TEXT:
            yield from _blocks(child, level + (child.tag == "sec"))


def _authors(article: Element) -> list[str]:
    """Return the authors, each by the first name of several in different scripts."""
    names = (
        next(iter(_persons(each)), "") or text_in(each, ".//string-name") or text_in(each, "collab")
        for each in article.iterfind(f"{META}/contrib-group/contrib")
        if each.get("contrib-type", "author") in {"author", "collab"}
    )
    return list(dict.fromkeys(filter(None, names)))


def _pages(article: Element) -> str:
    pages = (first(article, f"{META}/fpage"), first(article, f"{META}/lpage"))
    return "-".join(dict.fromkeys(filter(None, pages))) or first(article, f"{META}/elocation-id")


def _citations(article: Element) -> Iterator[Element]:
    """Yield each reference of the lists once; an item of a list may contain several."""
    for back in article.iterfind("back"):
        for reference in back.iter("ref"):
            below = [each for each in reference if each.tag in CITATIONS]
            within = next((each for each in reference.iter() if each.tag in CITATIONS), reference)
            yield from below or [within]


def _cited_ids(article: Element) -> list[str]:
    paths = "|".join(f".//pub-id[@pub-id-type='{kind}']" for kind in ("doi", "pmid"))
    ids = ("".join(first(each, paths).split()) for each in _citations(article))
    return list(dict.fromkeys(filter(None, ids)))


def _citation_text(citation: Element) -> str:
    """Return the text of a reference; the parts of an `element-citation` have none between them."""
    parts = (
        citation.itertext() if citation.tag in {"element-citation", "nlm-citation"} else [text_in(citation)]
    )
    return " ".join(" ".join(parts).split())


_persons = people(".//name", "surname", "given-names", "suffix")
CITATION: Table = {
    "text": _citation_text,
    "title": ".//article-title",
    "year": ".//year",
    "doi": ".//pub-id[@pub-id-type='doi']",
    "authors": _persons,
}
ARTICLE: Table = {
    "title": partial(_title, paths=("article-title", "subtitle")),
    "title2": lambda article: (
        _title(article, paths=("trans-title-group/trans-title", "trans-title-group/trans-subtitle"))
        or _title(article, paths=("trans-title", "trans-subtitle"))
    ),
    "abstract": lambda article: _abstracts(article)[0],
    "abstract2": lambda article: _abstracts(article)[1],
    "language": lambda article: article.get("lang", ""),
    "authors": _authors,
    "year": lambda article: min(
        filter(None, map(year_within, texts(article, f"{META}/pub-date/year"))), default=None
    ),
    "journal": f"{JOURNAL}//journal-title",
    "publisher": f"{JOURNAL}/publisher/publisher-name",
    "keywords": (f"{META}/kwd-group//kwd",),
    "subjects": (f"{META}/article-categories//subject",),
    "volume": f"{META}/volume",
    "issue": f"{META}/issue",
    "pages": _pages,
    "issn": f"{JOURNAL}/issn",
    "doi": _id("doi"),
    "pmid": _id("pmid"),
    "pmcid": f"{_id('pmcid')}|{_id('pmc')}",
    "arxiv": _id("arxiv"),
    "license": lambda article: next(
        (each.get("href", "") or text_in(each) for each in article.iterfind(f"{META}/permissions/license")),
        "",
    ),
    "type": lambda article: TYPES.get(type_ := article.get("article-type", ""), type_) or "article-journal",
    "body": _body,
    "references": _cited_ids,
    "reference_list": lambda article: [map_record(each, CITATION) for each in _citations(article)],
}
