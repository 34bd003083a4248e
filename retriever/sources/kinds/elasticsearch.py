"""A foreign Elasticsearch or OpenSearch index as a source, which is only read.

All queries of a search are one request to `_msearch`; other requests go to `_search`.

It does not use the official clients, because they refuse servers of other versions and vendors. All features
used here are the same in Elasticsearch 7 to 9 and OpenSearch 1 to 3. Words are sent in their written form,
because the index has its own analyzers. A field of a record may be missing, null, a list, a number or very
long.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from base.letters import HANGUL
from base.untrusted import message_of
from indexer.corpora.papers import Language, Paper
from indexer.corpora.readers.bibliography import language_of_code, parts_of
from indexer.corpora.readers.mapping import CONVERSIONS
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.scienceon import BETWEEN_AUTHORS
from indexer.settings import BaseUrl, ElasticsearchServer, IndexerSettings
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import LinkKind, SourceFeatures
from retriever.sources.settings import SourceSettings
from retriever.sources.web.client import Call, NoAnswer, WebClient, WebRequest
from retriever.sources.web.records import at, items, json_in, paper_of, table
from retriever.sources.web.source import AskedQuery, Linked, Page, WebSource

if TYPE_CHECKING:
    import httpx

IDENTIFIER = re.compile(r"\A[^\s\x00-\x1f\x7f-\x9f]{1,512}\Z")
MOST_FIELDS = 20  # per role
MOST_HITS = 10_000  # the default of `index.max_result_window`
MOST_EXPANSIONS = 100  # words of the index with a prefix of the query
# Longer values are cut; an abstract has 300 words.
LONGEST_TEXT, LONGEST_BODY = 20_000, 100_000
KOREAN_WORD, MOSTLY_BEGUN = "연구", 2  # in most Korean papers, usually followed by a particle
CUT_AT_SPACES = 'Korean is cut at spaces: hangul = "prefixes" also finds words followed by particles'
NDJSON = "application/x-ndjson"
PARTIAL = "a part of it did not answer in time: some papers may be missing"

Body = dict[str, Any]
NOTHING: Body = {"match_none": {}}


def _weighted(value: object) -> object:
    """Return fields with their weights; "title" and ["title", "subtitle"] weigh 1 each."""
    if isinstance(value, str):
        value = [value] if value else []
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return dict.fromkeys(value, 1.0) if texts and isinstance(value, list) else value


FieldName = Annotated[str, StringConstraints(pattern=r"^[^\s*^\x00-\x1f]{0,256}$")]
IndexName = Annotated[
    str, StringConstraints(pattern=r'^[^\s/\\?"<>|#\x00-\x1f_.+-][^\s/\\?"<>|#\x00-\x1f]{0,999}$')
]
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
    def by_role(self) -> dict[str, list[str]]:
        """The configured fields of each role, except the server's own id."""
        named = {role: [value] if isinstance(value, str) else value for role, value in self}
        return {role: [name for name in names if name not in {"", "_id"}] for role, names in named.items()}


class Settings(ElasticsearchServer, SourceSettings):
    """The server's address, and the fields of the index."""

    url: BaseUrl = Field(
        description="address of the server, or of the proxy before several, like https://HOST:9200"
    )
    index: IndexName = Field(description="an index, an alias or a pattern")
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

    @model_validator(mode="after")
    def _a_user_has_a_password(self) -> Self:
        if self.user and not (self.password or self.api_key):
            raise ValueError("user is set without a password: set its variable, or password_file")
        return self


def applicable(settings: Settings, filters: Filters) -> Filters:
    """Return the filters for which the index has fields; the others are applied to its hits."""
    fields = settings.fields
    return Filters(
        years=filters.years if fields.year else None,
        lang=filters.lang if fields.lang else None,
        journal=filters.journal if fields.journal else None,
    )


def search_query(settings: Settings, query: Query, filters: Filters) -> Body:
    """Return a query with its filters in the query DSL."""
    narrowed = [written(settings, clause) for clause in applicable(settings, filters).clauses()]
    asked = written(settings, query)
    return {"bool": {"must": [asked], "filter": narrowed}} if narrowed else asked


def written(settings: Settings, query: Query) -> Body:
    """Convert a query to the query DSL; clauses without a field in the index match nothing."""
    match query:
        case Term(text=text):
            if settings.hangul == "prefixes" and HANGUL.search(text):
                return _match(settings, query, "phrase_prefix", {"max_expansions": MOST_EXPANSIONS})
            return _match(settings, query, "best_fields", {})
        case Phrase(slop=slop):
            return _match(settings, query, "phrase", {"slop": slop} if slop else {})
        case Range(low=low, high=high):
            return _years(settings, low, high)
        case Exact(field=field, values=values):
            return _exact(settings, field, values)
        case Or(clauses=clauses):
            return _any([written(settings, clause) for clause in clauses])
        case And(clauses=clauses):
            found: dict[str, list[Body]] = {}
            for clause in clauses:
                kind = {Range: "filter", Exact: "filter", Not: "must_not"}.get(type(clause), "must")
                inner = clause.clause if isinstance(clause, Not) else clause
                found.setdefault(kind, []).append(written(settings, inner))
            return {"bool": found} if found else NOTHING
        case Not(clause=clause):
            return {"bool": {"must_not": [written(settings, clause)]}}


def _any(bodies: list[Body]) -> Body:
    return {"bool": {"should": bodies, "minimum_should_match": 1}} if bodies else NOTHING


def _match(settings: Settings, word: Term | Phrase, kind: str, more: Body) -> Body:
    of = settings.fields
    fields = of.title if word.field == "title" else {**of.body, **of.keywords, **of.abstract, **of.title}
    asked = {
        "query": word.text,
        "fields": [name if each == 1 else f"{name}^{each:g}" for name, each in fields.items()],
        "type": kind,
        "lenient": True,  # a numeric field matches no word, without an error
    }
    boost = {} if word.weight == 1 else {"boost": round(word.weight, 6)}
    return {"multi_match": asked | boost | more}


def _years(settings: Settings, low: int | None, high: int | None) -> Body:
    field, kind = settings.fields.year, settings.year_type
    if not field:
        return NOTHING
    if kind == "number":
        bounds: Body = {"gte": low, "lte": high}
    else:  # a date, or a text that begins with the year: up to the next year
        day = "-01-01" if kind == "date" else ""
        bounds = {
            "gte": None if low is None else f"{low:04}{day}",
            "lt": None if high is None else f"{high + 1:04}{day}",
            "format": "yyyy-MM-dd" if day else None,
        }
    return {"range": {field: {name: value for name, value in bounds.items() if value is not None}}}


def _exact(settings: Settings, field: str, values: Sequence[str]) -> Body:
    fields = settings.fields
    if field == "journal" and fields.journal:  # for analysed and unanalysed fields
        return _any([{"match_phrase": {fields.journal: value}} for value in values])
    if field == "lang":
        values = [dict[str, str](settings.languages.items()).get(value, value) for value in values]
    ids = {"doc_id": fields.id, "passage_id": fields.id, "references": fields.references}
    name = (ids | {"lang": fields.lang}).get(field)
    return _with_values(name, values) if name else NOTHING


def _with_values(field: str, values: Sequence[str]) -> Body:
    return {"ids": {"values": list(values)}} if field == "_id" else {"terms": {field: list(values)}}


def paper_in(settings: Settings, name: str, hit: Any) -> Paper | None:
    """Return a hit as a paper of the source; None if it is not a hit, or has no usable id."""
    fields, source = settings.fields, at(hit, "_source")
    values = {
        role: [text for field in names for text in _texts(source, field)]
        for role, names in fields.by_role.items()
    }
    first = {role: next(iter(found), "") for role, found in values.items()}
    names = [*values["authors"], *_texts(source, f"{fields.authors}.name")]
    called = {value.casefold(): language for language, value in settings.languages.items()}
    record = {role: CONVERSIONS.get(role, without_markup)(text) for role, text in first.items()} | {
        "id": at(hit, "_id") if fields.id == "_id" else first["id"],
        "title": _joined(values["title"]),
        "abstract": _joined(values["abstract"]),
        "body": "\n".join(values["body"])[:LONGEST_BODY],
        "keywords": list(map(without_markup, values["keywords"])),
        "authors": parts_of([text[:LONGEST_TEXT] for text in names], BETWEEN_AUTHORS),
        "references": values["references"],
        "lang": called.get(first["lang"].casefold()) or language_of_code(first["lang"]),
    }
    return paper_of(name, IDENTIFIER, record)


def _joined(texts: Sequence[str]) -> str:
    return without_markup("\n".join(dict.fromkeys(texts))[:LONGEST_TEXT])


def _texts(value: Any, field: str) -> Iterator[str]:
    """Yield the texts of a field, which may be in objects and lists; numbers as text."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each, field)
    elif isinstance(value, Mapping):
        first, _, rest = (field, "", "") if field in value else field.partition(".")
        yield from _texts(value.get(first), rest)
    elif not field and isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from filter(None, [str(value).strip()])


class ElasticsearchSource(WebSource):
    """A foreign index, open until `close`."""

    settings: Settings
    identifiers = IDENTIFIER
    batch = 500

    def __init__(
        self,
        name: str,
        settings: Settings,
        _: IndexerSettings | None = None,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        """Connect to nothing yet; `transport` replaces the network."""
        key, password = settings.api_key.get_secret_value(), settings.password.get_secret_value()
        pair = base64.b64encode(f"{settings.user}:{password}".encode()).decode() if settings.user else ""
        scheme, sent = ("ApiKey", key) if key else ("Basic", pair)
        client = WebClient(
            settings.url,
            request_s=settings.timeout_s,
            most_bytes=settings.answer_bytes,
            headers={"Authorization": f"{scheme} {sent}"} if sent else {},
            secrets=[key, password, sent],
            ca_certs=settings.ca_certs,
            transport=transport,
        )
        super().__init__(name, settings, client=client)
        linked = bool(settings.fields.references)
        self.features = SourceFeatures(references=linked, frequencies=True, private=settings.private)
        self.service = f"Elasticsearch at {settings.url}" if settings.private else "Elasticsearch"
        self._path = f"/{quote(settings.index, safe='*,-+.:')}"
        named = settings.fields.by_role
        self._fields = sorted({name for role, names in named.items() if role != "body" for name in names})

    def _write(self, query: Query, filters: Filters, call: Call) -> AskedQuery:
        held = applicable(self.settings, filters)
        named = ("years", "lang", "journal")
        if missing := [name for name in named if getattr(filters, name) and not getattr(held, name)]:
            call.notes.append(f"has no field for {', '.join(missing)}: its hits were filtered afterwards")
        text = json.dumps(search_query(self.settings, query, filters), ensure_ascii=False)
        return AskedQuery(text, Filters(), query)

    async def _find(self, sent: Mapping[AskedQuery, int], call: Call) -> Sequence[Page]:
        if not sent:
            return []
        bodies = [self._body(json.loads(each.text), min(k, MOST_HITS)) for each, k in sent.items()]
        lines = "".join(f"{{}}\n{json.dumps(body, ensure_ascii=False)}\n" for body in bodies)
        request = WebRequest(f"{self._path}/_msearch", {}, lines.encode(), NDJSON)
        return await self._with_bodies(await self.ask(request, call, self._answers(call, len(sent))), call)

    def _answers(self, call: Call, count: int) -> Callable[[bytes], list[Page]]:
        """Return the function that parses an answer of `_msearch`; queries may fail one by one."""

        def read(content: bytes) -> list[Page]:
            whole = json_in(content)
            answers = at(whole, "responses")
            if not isinstance(answers, list) or len(answers) != count:
                raise NoAnswer(f"its answer is not that of _msearch: {self.client.line(message_of(whole))}")
            for each in answers:
                if not _has_hits(each):
                    call.failures.append(f"a query failed: {self.client.line(message_of(each))}")
                elif _is_partial(each):
                    call.notes.append(PARTIAL)
            return [self._papers(each) for each in answers]

        return read

    async def _with_bodies(self, pages: Sequence[Page], call: Call) -> Sequence[Page]:
        """Read the full texts of papers without an abstract."""
        ids = {each.id: None for page in pages for each in page if each and not each.abstract}
        if not self.settings.fields.body or not ids:
            return pages
        request = partial(self._by_ids, fields=[*self._fields, *self.settings.fields.body])
        found = await self._fetch(request, list(ids), self.batch, call)
        whole = {paper.id: paper for paper in found}
        return [[each and whole.get(each.id, each) for each in page] for page in pages]

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return self._by_ids(ids, self._fields)

    def _by_ids(self, ids: Sequence[str], fields: Sequence[str]) -> WebRequest:
        body = self._body(_with_values(self.settings.fields.id, ids), len(ids))
        return self._request(body | {"_source": fields})

    async def _follow(self, kind: LinkKind, ids: Sequence[str], limit: int, call: Call) -> Linked:
        if kind == "reference":
            return await self.follow_references(ids, limit, call)
        asked = {self._write(Exact("references", (each,)), Filters(), call): limit for each in ids}
        return dict(zip(ids, await self._find(asked, call), strict=True))

    def _read(self, content: bytes) -> Page:
        return self._papers(self._answer(content))

    def _papers(self, answer: Any) -> Page:
        """Return the papers of an answer by score, then id."""
        scored = [
            (-float(at(hit, "_score") or 0.0), str(at(hit, "_id")), paper_in(self.settings, self.name, hit))
            for hit in _hits(answer)
        ]
        return [paper for _, _, paper in sorted(scored, key=itemgetter(0, 1))]

    def _answer(self, content: bytes) -> Mapping[str, Any]:
        answer = table(json_in(content))
        if not _has_hits(answer):
            raise NoAnswer(f"its answer is not that of _search: {self.client.line(message_of(answer))}")
        return answer

    def _request(self, body: Body) -> WebRequest:
        return WebRequest.of_json(f"{self._path}/_search", {}, body)

    def _body(self, query: Body, size: int) -> Body:
        return {"query": query, "size": size, "_source": self._fields, "track_total_hits": False}

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return each word's document frequency, and the number of papers; None if unknown."""
        asked = {word: written(self.settings, Term(word, ())) for word in dict.fromkeys(words)}
        total, *counts = await self._counts([{"match_all": {}}, *asked.values()])
        known = {word: count for word, count in zip(asked, counts, strict=True) if count is not None}
        return None if total is None or len(known) < len(asked) else (known, total)

    async def wrongly_described(self) -> tuple[str, ...]:
        """Describe fields that no paper has or that are not indexed, and Korean text cut only at spaces."""
        roles = {name: role for role, names in self.settings.fields.by_role.items() for name in names}
        prefixes = self.settings.model_copy(update={"hangul": "prefixes"})
        asked: list[Body] = [{"exists": {"field": name}} for name in roles]
        asked += [written(each, Term(KOREAN_WORD, ())) for each in (self.settings, prefixes)]
        *counts, alone, begun = await self._counts(asked)
        empty = [
            f"no paper has the field {name!r} ({role}), or it is not indexed"
            for (name, role), count in zip(roles.items(), counts, strict=True)
            if count == 0
        ]
        cut = begun and alone is not None and begun > MOSTLY_BEGUN * alone
        return (*empty, *([CUT_AT_SPACES] if cut else []))

    async def _counts(self, queries: Sequence[Body]) -> list[int | None]:
        """Count the papers of several queries in one request; None for a count that is partial or no number.

        Raises:
            SourceFailed: no answer.
        """
        filters = {str(place): query for place, query in enumerate(queries)}
        body = {"size": 0, "_source": False, "aggs": {"counts": {"filters": {"filters": filters}}}}
        with self._calling() as call:
            answer = await self.ask(self._request(body), call, self._answer)
        buckets = {} if _is_partial(answer) else at(answer, "aggregations", "counts", "buckets")
        found = [at(buckets, place, "doc_count") for place in filters]
        return [one if isinstance(one, int) else None for one in found]


def _has_hits(answer: Any) -> bool:
    return not at(answer, "error") and isinstance(at(answer, "hits", "hits"), list)


def _is_partial(answer: Any) -> bool:
    return bool(at(answer, "timed_out") or at(answer, "_shards", "failed"))


def _hits(answer: Any) -> list[Any]:
    return items(at(answer, "hits", "hits"))[:MOST_HITS]


open_source = ElasticsearchSource
