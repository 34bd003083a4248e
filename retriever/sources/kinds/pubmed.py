"""PubMed: citations from the E-utilities; a search returns ids, and one further request all records.

Format: https://www.ncbi.nlm.nih.gov/books/NBK25499/ (esearch, efetch, elink) and the DTD of PubMed's XML.
Requests are forms, so that addresses contain no keys or long queries.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from pydantic import Field

from indexer.corpora.papers import FIRST_YEAR, Paper
from retriever.queries.boolean import AnalysedField
from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax
from retriever.sources.web.client import WebRequest
from retriever.sources.web.records import (
    Unreadable,
    at,
    doi,
    items,
    json_in,
    paper_of,
    table,
    text,
    text_in,
    texts,
    xml_in,
    year,
)
from retriever.sources.web.source import AskedQuery, Conversation, Direction, Page, WebSource

MOST_IDS = 9_999  # of a search
LATEST = 3000  # the end of an open range of years
PMID = re.compile(r"[1-9][0-9]{0,9}")
YEAR = re.compile(r"\b(?:1[0-9]|20)[0-9]{2}\b")
LINKS = {"references": "pubmed_pubmed_refs", "citing": "pubmed_pubmed_citedin"}
ARTICLE = "MedlineCitation/Article"


class Settings(WebSettings):
    """Settings of the E-utilities, which allow ten requests per second with a key, three without."""

    url: Address = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    api_key: Key | None = Field(default=None, description="key of the service")
    requests_per_second: Rate = 3


TAGS: Mapping[AnalysedField, str] = {"text": "tiab", "title": "ti", "heading": "mh"}


SYNTAX = Syntax(word=lambda words, field: f'"{words}"[{TAGS[field]}]', longest=4_000)


def with_years(term: str, filters: Filters) -> str:
    """Add the years of publication."""
    years = filters.years
    if not years or not (years.low or years.high):
        return term
    return f"({term}) AND {years.low or FIRST_YEAR}:{years.high or LATEST}[dp]"


def read_ids(content: bytes) -> list[str]:
    """Parse the ids of a search."""
    answer = table(at(json_in(content), "esearchresult"))
    if not answer or answer.get("ERROR"):
        raise Unreadable(f"it answers: {text(answer.get('ERROR'))[:200] or 'no result of a search'}")
    return [each for each in texts(items(answer.get("idlist"))) if PMID.fullmatch(each)]


def read_links(content: bytes, link: str) -> dict[str, list[str]]:
    """Parse the linked ids of each id."""
    found: dict[str, list[str]] = {}
    for each in items(at(json_in(content), "linksets")):
        groups = (table(group) for group in items(at(each, "linksetdbs")))
        linked = [
            one for group in groups if group.get("linkname") == link for one in items(group.get("links"))
        ]
        for asked in texts(items(at(each, "ids")))[:1]:
            found[asked] = [one for one in texts(linked) if PMID.fullmatch(one)]
    return found


def read_articles(content: bytes, source: str) -> list[SourcePaper | None]:
    """Parse records; a DOCTYPE precedes them, and its references are not followed."""
    articles = xml_in(content, "PubmedArticleSet", doctype=True)
    return [_read_article(article, source) for article in articles.iterfind("PubmedArticle")]


def _read_article(record: Element, source: str) -> SourcePaper | None:
    journal = f"{ARTICLE}/Journal"
    dated = record.find(f"{journal}/JournalIssue/PubDate")
    return paper_of(
        source,
        {
            "id": "".join(PMID.findall(_text(record, "MedlineCitation/PMID"))[:1]),
            "title": _text(record, f"{ARTICLE}/ArticleTitle"),
            "title2": _text(record, f"{ARTICLE}/VernacularTitle"),
            "abstract": _abstract(record),
            "year": year("".join(YEAR.findall(text_in(dated))[:1])),
            "doi": _doi(record),
            "authors": texts(_name(author) for author in record.iterfind(f"{ARTICLE}/AuthorList/Author")),
            "journal": _text(record, f"{journal}/Title"),
            "keywords": texts(
                text_in(each)
                for path in ("MeshHeadingList/MeshHeading/DescriptorName", "KeywordList/Keyword")
                for each in record.iterfind(f"MedlineCitation/{path}")
            ),
            "references": [
                each
                for each in texts(
                    text_in(one)
                    for one in record.iterfind("PubmedData/ReferenceList//ArticleId[@IdType='pubmed']")
                )
                if PMID.fullmatch(each)
            ],
            "url": f"https://pubmed.ncbi.nlm.nih.gov/{_text(record, 'MedlineCitation/PMID')}/",
        },
    )


def _text(record: Element, path: str) -> str:
    return text(text_in(record.find(path)))


def _abstract(record: Element) -> str:
    """Join the parts of a structured abstract, each after its label."""
    parts = (
        f"{part.get('Label')}: {text_in(part)}" if part.get("Label") else text_in(part)
        for part in record.iterfind(f"{ARTICLE}/Abstract/AbstractText")
    )
    return text(" ".join(parts))


def _name(author: Element) -> str:
    parts = (author.findtext("ForeName") or author.findtext("Initials"), author.findtext("LastName"))
    return " ".join(filter(None, parts)) or author.findtext("CollectiveName") or ""


def _doi(record: Element) -> str:
    told = [
        *record.iterfind(f"{ARTICLE}/ELocationID[@EIdType='doi']"),
        *record.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']"),
    ]
    return next(filter(None, (doi(text_in(each)) for each in told)), "")


class PubMed(WebSource):
    """PubMed, open until `close`."""

    service = "PubMed"
    features = SourceFeatures(references=True, citing=True, private=False)
    syntax = SYNTAX
    identifiers = PMID
    batch = 200

    def __init__(self, name: str, settings: Settings) -> None:
        """Create the source; the first question connects."""
        super().__init__(name, settings)
        key = settings.api_key
        self._always = (
            ("db", "pubmed"),
            ("tool", "shrag"),
            *((("email", settings.contact),) if "://" not in settings.contact else ()),
            *((("api_key", key.get_secret_value()),) if key else ()),
        )

    async def pages(self, asked: AskedQuery, conversation: Conversation) -> AsyncIterator[Page]:
        """Yield ids only, by relevance; `complete` fetches the records."""
        form = {
            "term": with_years(asked.text, asked.filters),
            "retmax": str(min(asked.k, MOST_IDS)),
            "sort": "relevance",
            "retmode": "json",
        }
        ids = await self.read(read_ids, await self._ask("esearch", form, conversation))
        yield [SourcePaper(Paper.model_validate({"id": each})) for each in ids[: asked.k]]

    async def complete(
        self, found: list[list[SourcePaper]], conversation: Conversation
    ) -> tuple[list[list[SourcePaper]], list[str]]:
        """Fetch the records of all queries together."""
        known, failures = await self.by_id((each.paper.id for ids in found for each in ids), conversation)
        return [[known[each.paper.id] for each in ids if each.paper.id in known] for ids in found], failures

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return records by id."""
        content = await self._ask("efetch", {"id": ",".join(ids), "retmode": "xml"}, conversation)
        return await self.read(read_articles, content, self.name)

    async def follow(
        self, direction: Direction, ids: Sequence[str], limit: int, conversation: Conversation
    ) -> tuple[Mapping[str, Page], list[str]]:
        """Follow references in either direction: one request for all ids, further requests for records."""
        link = LINKS[direction]
        form = {"dbfrom": "pubmed", "cmd": "neighbor", "linkname": link, "retmode": "json"}
        content = await self._ask("elink", form, conversation, ids=ids)
        links = await self.read(read_links, content, link)
        linked = {each: links[each][:limit] for each in ids if each in links}
        return await self.follow_by_id(linked, conversation)

    async def _ask(
        self, utility: str, form: Mapping[str, str], conversation: Conversation, *, ids: Sequence[str] = ()
    ) -> bytes:
        apart = tuple(("id", each) for each in ids)  # separate parameters give separate answers
        return await conversation.ask(
            WebRequest(f"/{utility}.fcgi", form=(*self._always, *form.items(), *apart))
        )


open_source = PubMed.open
