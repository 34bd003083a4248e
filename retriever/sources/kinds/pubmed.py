"""PubMed: citations from the E-utilities; a search returns ids, and one further request all records.

Format: https://www.ncbi.nlm.nih.gov/books/NBK25499/ (esearch, efetch, elink) and the DTD of PubMed's XML.
Requests are forms, so that addresses contain no keys or long queries. The reader of corpora reads the
records.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from pydantic import Field

from indexer.corpora.papers import FIRST_YEAR
from indexer.corpora.readers.mapping import first, texts
from indexer.corpora.readers.pubmed import article_as_paper
from indexer.corpora.readers.xml_records import text_in
from retriever.queries.boolean import AnalysedField
from retriever.sources import LinkKind, SourceFeatures
from retriever.sources.settings import Address, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax
from retriever.sources.web.client import FORM, Call, NoAnswer, WebRequest
from retriever.sources.web.records import at, items, json_in, table, xml_in
from retriever.sources.web.source import AskedQuery, Linked, Page, WebSource, bounds

MOST_IDS = 9_999  # of a search
LATEST = 3000  # the end of an open range of years
PMID = re.compile(r"[1-9][0-9]{0,9}")
LINKS = {"reference": "pubmed_pubmed_refs", "citing": "pubmed_pubmed_citedin"}
TAGS: Mapping[AnalysedField, str] = {"text": "tiab", "title": "ti", "heading": "mh"}


class Settings(WebSettings):
    """Settings of the E-utilities, which allow ten requests per second with a key, three without."""

    url: Address = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    api_key: Key | None = Field(default=None, description="key of the service")
    requests_per_second: Rate = 3


class PubMed(WebSource):
    """PubMed, open until `close`."""

    settings: Settings
    service = "PubMed"
    features = SourceFeatures(references=True, private=False)
    syntax = Syntax(word=lambda words, field: f'"{words}"[{TAGS[field]}]', longest=4_000)
    identifiers = PMID
    batch = 200

    async def _find(self, sent: Mapping[AskedQuery, int], call: Call) -> list[Page]:
        lists = await asyncio.gather(*(self._ids(each, k, call) for each, k in sent.items()))
        known = await self._by_id(chain.from_iterable(lists), call)
        if any(lists):
            call.require(known)
        return [[known[each] for each in ids if each in known] for ids in lists]

    async def _ids(self, asked: AskedQuery, k: int, call: Call) -> list[str]:
        term = asked.text
        if years := bounds(asked.filters, FIRST_YEAR, LATEST):
            term = f"({term}) AND {years[0]}:{years[1]}[dp]"
        form = {"term": term, "retmax": str(min(k, MOST_IDS)), "sort": "relevance", "retmode": "json"}
        try:
            return (await self.ask(self._form("esearch", form), call, read_ids))[:k]
        except NoAnswer as failure:
            call.failures.append(str(failure))
            return []

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return self._form("efetch", {"id": ",".join(ids), "retmode": "xml"})

    async def _follow(self, kind: LinkKind, ids: Sequence[str], limit: int, call: Call) -> Linked:
        link = LINKS[kind]
        form = {"dbfrom": "pubmed", "cmd": "neighbor", "linkname": link, "retmode": "json"}
        links = await self.ask(self._form("elink", form, ids), call, partial(read_links, link))
        return await self.follow_ids({each: links[each][:limit] for each in ids if each in links}, call)

    def _form(self, utility: str, fields: Mapping[str, str], ids: Sequence[str] = ()) -> WebRequest:
        """Return a request of a utility; separate parameters of ids give separate answers."""
        key, contact = self.settings.api_key, self.settings.contact
        always = {
            "db": "pubmed",
            "tool": "shrag",
            "email": "" if "://" in contact else contact,
            "api_key": key.get_secret_value() if key else "",
        }
        named = [each for each in (always | dict(fields)).items() if each[1]]
        form = urlencode([*named, *(("id", each) for each in ids)])
        return WebRequest(f"/{utility}.fcgi", {}, form.encode(), FORM)

    def _read(self, content: bytes) -> Page:
        articles = xml_in(content, "PubmedArticleSet", doctype=True).iterfind("PubmedArticle")
        return [self._paper(_record(article)) for article in articles]


def _record(article: Element) -> dict[str, Any]:
    record = article_as_paper(article)
    keywords = [*record.get("mesh", ()), *record.get("keywords", ())]
    authors = list(map(_name, article.iterfind("MedlineCitation/Article/AuthorList/Author")))
    return record | {"keywords": keywords, "authors": list(filter(None, authors))}


def _name(author: Element) -> str:
    """Return a name as other services write it: given names first."""
    given = text_in(author, "ForeName") or text_in(author, "Initials")
    return f"{given} {text_in(author, 'LastName')}".strip() or text_in(author, "CollectiveName")


def read_ids(content: bytes) -> list[str]:
    """Parse the ids of a search."""
    answer = table(at(json_in(content), "esearchresult"))
    if not answer or answer.get("ERROR"):
        raise NoAnswer(f"it answers: {first(answer, 'ERROR')[:200] or 'no result of a search'}")
    return list(filter(PMID.fullmatch, texts(answer, "idlist")))


def read_links(link: str, content: bytes) -> dict[str, list[str]]:
    """Parse the linked ids of each id."""
    found: dict[str, list[str]] = {}
    for each in items(at(json_in(content), "linksets")):
        groups = [group for group in items(at(each, "linksetdbs")) if at(group, "linkname") == link]
        found[first(each, "ids")] = list(filter(PMID.fullmatch, texts({"groups": groups}, "groups/links")))
    return found


open_source = PubMed
