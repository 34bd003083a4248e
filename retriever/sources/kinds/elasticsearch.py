"""A foreign Elasticsearch or OpenSearch index as a source, which is only read, by `_msearch`.

It does not use the official clients, because they refuse servers of other versions and vendors. The
requests and the parsing of answers are in `retriever/sources/query_dsl.py`.
"""

import asyncio
import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from base.untrusted import message_of
from indexer.corpora.papers import Language
from indexer.settings import BaseUrl, ElasticsearchServer, IndexerSettings
from retriever.errors import SourceFailed, SourceSilent
from retriever.queries.boolean import Exact, Query, Term
from retriever.queries.filters import Filters
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.json_values import table
from retriever.sources.query_dsl import (
    EVERYTHING,
    Body,
    applicable,
    count_body,
    full_text_of,
    hits_in,
    paper_in,
    records_body,
    search_body,
    texts_body,
    total_in,
    written,
)
from retriever.sources.settings import SourceSettings
from retriever.sources.web.client import Call, Limits, Unanswered, WebClient, WebRequest
from retriever.sources.web.records import Unreadable, json_in

if TYPE_CHECKING:
    import httpx

FIELD = re.compile(r"[^\s*^\x00-\x1f]{1,256}")
INDEX = re.compile(r"[^\s/\\?\"<>|#\x00-\x1f_.+-][^\s/\\?\"<>|#\x00-\x1f]{0,999}")
MOST_FIELDS = 20  # per role
LEEWAY_S = 1.0  # for parsing answers
MOST_NOTES = 3
RECORDS_AT_A_TIME, COUNTS_AT_A_TIME = 500, 100
KOREAN_WORD, MOSTLY_BEGUN = "연구", 2  # in most Korean papers, usually followed by a particle
CUT_AT_SPACES = 'Korean is cut at spaces: hangul = "prefixes" also finds words followed by particles'
NO_ANSWER = "a part of it did not answer in time: some papers may be missing"


def _weighted(value: object) -> object:
    """Return fields with their weights; "title" and ["title", "subtitle"] weigh 1 each."""
    if isinstance(value, str):
        value = [value] if value else []
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return dict.fromkeys(value, 1.0) if texts and isinstance(value, list) else value


def _field(value: object) -> object:
    if isinstance(value, str) and value and not FIELD.fullmatch(value):
        raise ValueError("is not the name of a field: names have no white space, * or ^")
    return value


FieldName = Annotated[str, BeforeValidator(_field)]
WeightedFields = Annotated[
    dict[Annotated[FieldName, Field(min_length=1)], Annotated[float, Field(gt=0, le=1000)]],
    BeforeValidator(_weighted),
    Field(max_length=MOST_FIELDS),
]


class IndexFields(BaseModel):
    """The role of each field; `author.name` is a nested field, "" is none.

    Title, abstract, body and keywords are searched. Each may be several fields with weights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: FieldName = Field(default="_id", min_length=1, description="id of a paper")
    title: Annotated[WeightedFields, Field(min_length=1)] = Field(
        description="title: a field, a list of fields, or fields with weights {titel = 2.0, untertitel = 1.0}"
    )
    abstract: WeightedFields = Field(default_factory=dict, description="abstract, in the same forms as title")
    body: WeightedFields = Field(
        default_factory=dict,
        description="full text, in the same forms; the first 100,000 characters replace a missing abstract",
    )
    keywords: WeightedFields = Field(default_factory=dict, description="keywords, in the same forms as title")
    year: FieldName = Field(default="", description="year of publication")
    lang: FieldName = Field(default="", description="language")
    authors: FieldName = Field(default="", description="authors")
    journal: FieldName = Field(default="", description="journal")
    doi: FieldName = Field(default="", description="DOI")
    url: FieldName = Field(default="", description="address of the paper")
    references: FieldName = Field(default="", description="ids of papers of the same index")

    @property
    def searched(self) -> dict[str, float]:
        """The fields in which words are searched for."""
        return {**self.body, **self.keywords, **self.abstract, **self.title}

    @property
    def roles(self) -> dict[str, str]:
        """The role of each configured field, except the server's own id."""
        named = {role: [value] if isinstance(value, str) else value for role, value in self}
        return {name: role for role, names in named.items() for name in names if name and name != "_id"}

    @property
    def read(self) -> list[str]:
        """The fields that are read, except full texts."""
        return sorted(name for name, role in self.roles.items() if role != "body")


class Settings(ElasticsearchServer, SourceSettings):
    """The server's address, and the fields of the index."""

    url: BaseUrl = Field(
        description="address of the server, or of the proxy before several, like https://HOST:9200"
    )
    index: str = Field(description="an index, an alias or a pattern")
    private: bool = Field(
        default=True, description="questions stay within the institution; `sources list` shows it"
    )
    answer_bytes: int = Field(
        default=64_000_000, ge=10_000, le=1_000_000_000, description="maximum bytes of one answer"
    )
    hangul: Literal["words", "prefixes"] = Field(
        default="words",
        description="words: Korean as the index analyses it; prefixes: for an index that cuts Korean at "
        "spaces only, as the standard analyzer does, so that 메탄 finds 메탄을",
    )
    year_type: Literal["number", "date", "text"] = Field(
        default="number", description="mapping of the year's field; a text starts with the year"
    )
    languages: dict[Language, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict, description='values of the language field, like {ko = "kor", en = "eng"}'
    )
    fields: IndexFields

    @property
    def longest_s(self) -> float:
        """Time for two requests and a margin: records, then their full texts or their references."""
        return 2 * self.timeout_s + LEEWAY_S

    @field_validator("index")
    @classmethod
    def _names_an_index(cls, index: str) -> str:
        if not INDEX.fullmatch(index):
            raise ValueError("is not the name of an index")
        return index

    @field_validator("languages")
    @classmethod
    def _differ(cls, languages: dict[Language, str]) -> dict[Language, str]:
        named: dict[str, Language] = {}
        for language, name in languages.items():
            if (other := named.setdefault(name.casefold(), language)) != language:
                raise ValueError(f"{other} and {language} are the same")
        return languages

    @model_validator(mode="after")
    def _a_user_has_a_password(self) -> Self:
        if self.user and not (self.password or self.api_key):
            raise ValueError("user is set without a password: set its variable, or password_file")
        return self

    @property
    def authorization(self) -> tuple[str, str]:
        """The scheme and the credentials that are sent, "" for none."""
        if key := self.api_key.get_secret_value():
            return "ApiKey", key
        pair = f"{self.user}:{self.password.get_secret_value()}".encode()
        return ("Basic", base64.b64encode(pair).decode()) if self.user else ("", "")


class ElasticsearchSource(Source):
    """A foreign index, open until `close`."""

    def __init__(
        self, name: str, settings: Settings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        """Create a client, which connects when needed; `transport` replaces the network."""
        self.name, self._settings = name, settings
        scheme, sent = settings.authorization
        self._client = WebClient(
            settings.url,
            Limits(settings.timeout_s, most_bytes=settings.answer_bytes),
            headers={"Authorization": f"{scheme} {sent}"} if sent else {},
            secrets=[settings.api_key.get_secret_value(), settings.password.get_secret_value(), sent],
            ca_certs=settings.ca_certs,
            transport=transport,
        )
        self._where = f"source {name!r}" + (f" at {settings.url}" if settings.private else "")

    @property
    def features(self) -> SourceFeatures:
        """References are supported if their field is configured."""
        linked = bool(self._settings.fields.references)
        return SourceFeatures(
            references=linked, citing=linked, frequencies=True, private=self._settings.private
        )

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer all queries in one request; read full texts of papers without an abstract in another."""
        settings = self._settings
        answers, notes = await self._ask([search_body(settings, query, k, filters) for query, k in queries])
        found, own_ids, unusable = await asyncio.to_thread(self._found, answers)
        if unusable:
            notes.append(f"{unusable} records without a usable id were left out")
        held = applicable(settings, filters)
        wanted = [name for name in ("years", "lang", "journal") if getattr(filters, name)]
        if missing := [name for name in wanted if not getattr(held, name)]:
            notes.append(f"has no field for {', '.join(missing)}: its hits were filtered afterwards")
        texts: dict[str, str] = {}
        if own_ids:
            try:
                [answer], _ = await self._ask([texts_body(settings, list(own_ids))])
                for hit in hits_in(answer) or ():
                    own_id = str(table(hit).get("_id"))
                    texts[own_ids.get(own_id, "")] = full_text_of(settings, hit)
            except SourceFailed as error:  # the records are usable without them
                notes.append(f"full texts were not read: {error}")
        whole = tuple(tuple(_with_text(paper, texts) for paper in papers) for papers in found)
        return SourceAnswer(whole, tuple(notes), requests=1 + bool(own_ids))

    def _found(
        self, answers: Sequence[dict[str, Any]]
    ) -> tuple[list[list[SourcePaper]], dict[str, str], int]:
        """Return each answer's papers, ids of papers without text by the server's, and the unusable count."""
        found: list[list[SourcePaper]] = []
        own_ids: dict[str, str] = {}
        unusable: set[str] = set()
        for answer in answers:
            papers: dict[str, SourcePaper] = {}
            for hit in hits_in(answer) or ():
                if (paper := paper_in(self._settings, self.name, hit)) is None:
                    unusable.add(repr(hit)[:1000])
                    continue
                papers.setdefault(paper.paper.id, paper)
                if self._settings.fields.body and not paper.paper.abstract:
                    own_ids[str(hit.get("_id"))] = paper.paper.id
            found.append(sorted(papers.values(), key=lambda each: (-(each.score or 0.0), each.paper.id)))
        return found, own_ids, len(unusable)

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id."""
        wanted = list(dict.fromkeys(ids))
        starts = range(0, len(wanted), RECORDS_AT_A_TIME)
        bodies = [records_body(self._settings, wanted[start : start + RECORDS_AT_A_TIME]) for start in starts]
        answers, _ = await self._ask(bodies) if bodies else ([], [])
        by_id = {paper.paper.id: paper for answer in answers for paper in self._unscored(answer)}
        return {paper_id: by_id[paper_id] for paper_id in wanted if paper_id in by_id}

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the references of papers that are in the index, in two requests."""
        if not self.features.references:
            return LinkedPapers()
        papers = await self.papers(ids)
        referred = {paper_id: each.paper.references[:limit] for paper_id, each in papers.items()}
        others = await self.papers([other for of in referred.values() for other in of])
        linked = {name: tuple(others[each] for each in of if each in others) for name, of in referred.items()}
        return LinkedPapers(linked, requests=2)

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers of the index that refer to papers, in one request."""
        if not self.features.citing or not ids:
            return LinkedPapers()
        answers, notes = await self._ask(
            [search_body(self._settings, Exact("references", (each,)), limit, Filters()) for each in ids]
        )
        return LinkedPapers(dict(zip(ids, map(self._unscored, answers), strict=True)), tuple(notes), 1)

    def _unscored(self, answer: Mapping[str, Any]) -> tuple[SourcePaper, ...]:
        """Return the papers of an answer that has no order by score."""
        papers = (paper_in(self._settings, self.name, hit) for hit in hits_in(answer) or ())
        return tuple(replace(paper, score=None) for paper in papers if paper)

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return each word's document frequency, and the number of papers; None if unknown."""
        counted = list(dict.fromkeys(words))
        asked = [EVERYTHING, *(written(self._settings, Term(word, ())) for word in counted)]
        totals: list[int] = []
        for start in range(0, len(asked), COUNTS_AT_A_TIME):
            answers, notes = await self._ask(list(map(count_body, asked[start : start + COUNTS_AT_A_TIME])))
            known = [total for total in map(total_in, answers) if total is not None]
            if notes or len(known) < len(answers):
                return None
            totals += known
        return dict(zip(counted, totals[1:], strict=True)), totals[0]

    async def wrongly_described(self) -> tuple[str, ...]:
        """Describe fields that no paper has or that are not indexed, and Korean text cut only at spaces."""
        roles = self._settings.fields.roles
        prefixes = self._settings.model_copy(update={"hangul": "prefixes"})
        word = Term(KOREAN_WORD, ())
        asked = [{"exists": {"field": name}} for name in roles]
        asked += [written(self._settings, word), written(prefixes, word)]
        answers, _ = await self._ask(list(map(count_body, asked)))
        *held, alone, begun = map(total_in, answers)
        told = [
            f"no paper has the field {name!r} ({role}), or it is not indexed"
            for (name, role), papers in zip(roles.items(), held, strict=True)
            if papers == 0
        ]
        cut = begun and alone is not None and begun > MOSTLY_BEGUN * alone
        return (*told, *([CUT_AT_SPACES] if cut else []))

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def _ask(self, bodies: Sequence[Body]) -> tuple[list[dict[str, Any]], list[str]]:
        """Send searches in one request; return one answer each, empty with a note if the search failed.

        Raises:
            SourceSilent: no answer within `timeout_s`, including retries.
            SourceFailed: the request failed, or all of its searches.
        """
        lines = [line for body in bodies for line in (b"{}", json.dumps(body, ensure_ascii=False).encode())]
        index = quote(self._settings.index, safe="*,-+.:")
        request = WebRequest(f"/{index}/_msearch", content=b"\n".join(lines) + b"\n")
        until = asyncio.get_running_loop().time() + self._settings.timeout_s
        try:
            response = await asyncio.to_thread(json_in, await self._client.send(request, Call(until)))
        except (Unanswered, Unreadable) as error:
            is_silent = isinstance(error, Unanswered) and error.silent
            raise (SourceSilent if is_silent else SourceFailed)(f"{self._where}: {error}") from None
        answers = table(response).get("responses")
        if not isinstance(answers, list) or len(answers) != len(bodies):
            said = self._client.line(message_of(response))
            raise SourceFailed(f"{self._where}: its answer is not that of _msearch: {said}")
        notes = []
        for place, answer in enumerate(answers):
            if hits_in(table(answer)) is None:
                notes.append(f"a query failed: {self._client.line(message_of(answer))}")
                answers[place] = {}
            elif answer.get("timed_out") or table(answer.get("_shards")).get("failed"):
                notes.append(NO_ANSWER)
        if not any(answers):
            raise SourceFailed(f"{self._where}: {notes[0]}")
        return answers, list(dict.fromkeys(notes))[:MOST_NOTES]


def _with_text(paper: SourcePaper, texts: Mapping[str, str]) -> SourcePaper:
    text = texts.get(paper.paper.id)
    return replace(paper, paper=paper.paper.model_copy(update={"body": text})) if text else paper


def open_source(name: str, settings: Settings, _: IndexerSettings) -> Source:
    """Create the source; nothing is sent yet."""
    return ElasticsearchSource(name, settings)
