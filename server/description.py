"""The OpenAPI description of the API: operation ids, responses, events of streams, and problems.

Responses are dictionaries that are sent unchanged. A route names the types whose fields its response has, and
the schemas are derived from them (`base.records`):

    FOUND = Annotated[dict[str, Any], Shaped(CallTarget, SearchResult)]
    SESSION = Annotated[Session, Shaped(Session)]

Fields may be added in later versions.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from http import HTTPStatus
from inspect import signature
from typing import Annotated, Any, NotRequired, TypeAlias, TypeVar

from fastapi import APIRouter, FastAPI, Query
from fastapi.routing import APIRoute
from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from base.documents.formats import DOCUMENT_FORMATS
from base.errors import ShragError
from base.records import adapter
from generator.answer_events import (
    SEARCH_FIELDS_OF_EVIDENCE,
    CheckEvent,
    EvidenceEvent,
    KeywordsEvent,
    QueriesEvent,
    QuestionEvent,
    RestartEvent,
    SentenceEvent,
    StartedStep,
)
from generator.answers.answer import Sentence
from generator.finding.events import FindingStepEvent, PapersEvent, SentQueriesEvent, SpentEvent
from generator.finding.result import FoundPapers, WithTree
from generator.finding.state import Understanding
from generator.pipeline import AskResult
from retriever.exports import EXPORTS
from retriever.stages.hits import SearchResult
from server.problems import MEDIA_TYPE, Problem, error_classes
from server.targets import CallTarget
from server.transport.streams import EVENT_STREAM

REFERENCE = "#/components/schemas/{model}"
SHAPE = "x-shape"
SUFFIX = "Record"  # of types that describe the JSON of a value: the schema of HitRecord is named Hit

Schema: TypeAlias = dict[str, Any]
SchemaField: TypeAlias = core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField


class Shaped:
    """Describe a dictionary by the types whose fields it has; fields of later types replace earlier ones.

    A part (type, names) has only these fields of a type. The last part gives the description, and the name if
    none is given.
    """

    def __init__(self, *parts: Any, name: str = "") -> None:
        """Register the shape for the description of the API."""
        self.parts = [part if isinstance(part, tuple) else (part, None) for part in parts]
        self.name: str = name or self.parts[-1][0].__name__
        SHAPES[self.name] = self

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        """Send the dictionary unchanged."""
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Schema:
        """Name the shape; `with_references` replaces it by a reference."""
        return {SHAPE: self.name}

    def schema(self, of_types: Mapping[Any, Schema]) -> Schema:
        """Join the schemas of the parts."""
        properties: dict[str, Schema] = {}
        required: dict[str, bool] = {}
        described = ""
        for kind, names in self.parts:
            part = of_types[kind]
            described = part.get("description", described)
            for name in part["properties"] if names is None else names:
                properties[name] = part["properties"][name]
                required[name] = name in part.get("required", ())
        return {
            "title": self.name,
            "description": described,
            "type": "object",
            "properties": properties,
            "required": [name for name, is_required in required.items() if is_required],
        }


SHAPES: dict[str, Shaped] = {}


class OfIndex(TypedDict):
    """A response of one index."""

    index: str


class RecordSchema(GenerateJsonSchema):
    """Schemas of records: a field is required unless the record omits it; it may be null."""

    def field_is_required(self, field: SchemaField, total: bool) -> bool:  # noqa: D102 - of the base class
        if field.get("serialization_exclude_if") is not None:
            return False
        return field["type"] != "typed-dict-field" or bool(field.get("required", total))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:  # noqa: D102
        return self.generate_inner(schema["schema"])


def without_null(schema: Schema) -> Schema:
    """Return the schema of an optional value that is left out rather than null."""
    options: list[Schema] = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    return {name: value for name, value in schema.items() if name != "anyOf"} | options[0]


def shape_schemas() -> dict[str, Schema]:
    """Return the JSON schemas of all shapes, and of all types within them, by name."""
    types = dict.fromkeys(kind for shape in SHAPES.values() for kind, _ in shape.parts)
    adapters: list[tuple[Any, Any, TypeAdapter[Any]]] = [
        (kind, "serialization", adapter(kind)) for kind in types
    ]
    keyed, made = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE, schema_generator=RecordSchema)
    within: dict[str, Schema] = made.get("$defs", {})
    of_types = {
        kind: within[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        for (kind, _), schema in keyed.items()
    }
    schemas = {name.removesuffix(SUFFIX): schema for name, schema in within.items()}
    schemas |= {name: shape.schema(of_types) for name, shape in SHAPES.items()}
    described: dict[str, Schema] = with_references(schemas)
    return described


def with_references(schema: Any) -> Any:
    """Replace names of shapes by references, and remove the suffix of types from references.

    Omit `readOnly`, which is true of all parts of a response.
    """
    if isinstance(schema, dict):
        if name := schema.get(SHAPE):
            return {"$ref": REFERENCE.format(model=name)}
        return {key: with_references(value) for key, value in schema.items() if key != "readOnly"}
    if isinstance(schema, list):
        return [with_references(each) for each in schema]
    is_reference = isinstance(schema, str) and schema.startswith(REFERENCE.format(model=""))
    return schema.removesuffix(SUFFIX) if is_reference else schema


class SearchEvent(TypedDict):
    """The id of the kept search; the first event, omitted if the search cannot be kept."""

    id: str


class KeptAs(TypedDict):
    """Found papers, best first, with their origin."""

    search: NotRequired[Annotated[str, Field(description="the id of the kept search")]]


ANSWER_RESULT = Shaped(CallTarget, SearchResult, AskResult, name="AnswerResult")
FOUND_PAPERS = Shaped(CallTarget, FoundPapers, WithTree, KeptAs, name="FoundPapers")
EVENTS = {
    "step": Shaped(StartedStep, name="StepEvent"),
    "question": Shaped(QuestionEvent),
    "keywords": Shaped(KeywordsEvent),
    "queries": Shaped(QueriesEvent),
    "evidence": Shaped((SearchResult, SEARCH_FIELDS_OF_EVIDENCE), EvidenceEvent),
    "restart": Shaped(RestartEvent),
    "sentence": Shaped(Sentence, SentenceEvent),
    "check": Shaped(CheckEvent),
    "done": ANSWER_RESULT,
    "error": Shaped(Problem),
}
FINDING_EVENTS = {
    "search": Shaped(SearchEvent),
    "step": Shaped(FindingStepEvent),
    "understanding": Shaped(Understanding),
    "queries": Shaped(SentQueriesEvent),
    "papers": Shaped(PapersEvent),
    "spent": Shaped(SpentEvent),
    "done": FOUND_PAPERS,
    "error": Shaped(Problem),
}


def _event(name: str, shape: Shaped) -> dict[str, Any]:
    data = {"$ref": REFERENCE.format(model=shape.name)}
    return {
        "type": "object",
        "properties": {
            "event": {"const": name},
            "id": {"type": "string", "pattern": "^[1-9][0-9]*$"},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
        "required": ["event", "id", "data"],
    }


def stream_responses(events: dict[str, Shaped]) -> dict[int | str, dict[str, Any]]:
    """Describe a stream of events, for the responses of a route."""
    schema = {"oneOf": [_event(name, shape) for name, shape in events.items()]}
    return {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}, "itemSchema": schema}}}}


MOST_CITED = 200  # papers of a document: a style takes about 10 ms each
OF_API = ("/api/", "/healthz", "/readyz", "/metrics")
WAIT = {"Retry-After": {"description": "seconds", "schema": {"type": "integer", "minimum": 1}}}
WITH_WAIT = {429, 503}
KEYS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "a key: shrag keys create"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
DOCUMENTS, REFERENCES = (", ".join(f"`{name}`" for name in names) for names in (DOCUMENT_FORMATS, EXPORTS))
INDEX = "`index` beside `sources`"
# Combinations of fields that are refused, by the name of the body's schema.
REFUSED = {
    "SearchCall": INDEX,
    "AskCall": f"{INDEX}; `method`, `strategy`, `keywords`, `skip` or `topic` by a way that does not take it",
    "ExportBody": f"{INDEX}; more than one of `ids`, `question` and `answer`, or none; `answer` without "
    f"`evidence`, or with another format than {DOCUMENTS}; `cite` beside format {REFERENCES}; more than "
    f"{MOST_CITED} papers of format {DOCUMENTS}",
    "FindCall": f"{INDEX}; neither `question` nor `resume`",
}


class Application(FastAPI):
    """An application whose description includes response shapes and problems."""

    def openapi(self) -> dict[str, Any]:
        """Return the description, built on first use."""
        if self.openapi_schema is None:
            document = super().openapi()
            components = document["components"]
            of_calls = components.get("schemas", {})  # they are laxer
            components["schemas"] = shape_schemas() | of_calls
            self.openapi_schema = _completed(with_references(document))
        assert self.openapi_schema is not None  # noqa: S101 - made above
        return self.openapi_schema


Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Any]])


def by_address_and_body(router: APIRouter, path: str, **described: Any) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that adds an endpoint by POST, and by GET with the fields of `call` in the address.

    An address can be bookmarked and shared.
    """

    def add(endpoint: Endpoint) -> Endpoint:
        @wraps(endpoint)
        async def by_address(**values: Any) -> Any:
            return await endpoint(**values)

        called = signature(endpoint)
        parts = [
            part.replace(annotation=Annotated[part.annotation, Query()]) if part.name == "call" else part
            for part in called.parameters.values()
        ]
        by_address.__signature__ = called.replace(parameters=parts)  # type: ignore[attr-defined]
        router.get(path, **described)(by_address)
        return router.post(path, **described)(endpoint)

    return add


def operation_id(route: APIRoute) -> str:
    """Name a call by its path and method: search_get, papers_get."""
    parts = route.path_format.removeprefix("/api/v1").strip("/").split("/")
    named = [part for part in parts if not part.startswith("{")]
    one = "_one" if parts[-1].startswith("{") else ""
    return f"{'_'.join(named)}{one}_{min(route.methods or ['any']).lower()}".replace("-", "_").replace(
        ".", "_"
    )


def problem_responses() -> dict[str, Any]:
    """Describe the problems of every call, by status."""
    codes: dict[int, set[str]] = defaultdict(set)
    kinds: list[type[ShragError]] = [ShragError, *error_classes()]
    for kind in kinds:
        codes[kind.http_status].add(kind.code)
    content = {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}}
    return {
        str(status): {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(sorted(codes[status]))}",
            "content": content,
            **({"headers": WAIT} if status in WITH_WAIT else {}),
        }
        for status in sorted(codes)
    }


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a description with problems and keys."""
    components = document["components"]
    components["securitySchemes"] = KEYS
    refused = problem_responses()
    for path, calls in document["paths"].items():
        if not path.startswith(OF_API):
            continue
        for call in calls.values():
            found = {status: each for status, each in call["responses"].items() if status.startswith("2")}
            for part in call.get("parameters", ()):
                part["schema"] = without_null(part["schema"])
                if "$ref" in part["schema"]:  # an object in an address is JSON
                    part["content"] = {"application/json": {"schema": part.pop("schema")}}
            call["responses"] = found | refused
            call["security"] = [{}, *({name: []} for name in KEYS)]
            call["summary"] = call["description"].split("\n")[0].rstrip(".")
        if words := REFUSED.get(_body_of(calls.get("post", {}))):
            for call in calls.values():
                call["description"] += f"\n\nRefused with 422: {words}."
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    return document


def _body_of(call: Mapping[str, Any]) -> str:
    """Return the name of the schema of a call's body, or ""."""
    contents = call.get("requestBody", {}).get("content", {}).values()
    return next((each["schema"].get("$ref", "").rpartition("/")[2] for each in contents), "")
