"""The indexes, example questions made from their papers, and the sources in place of an index."""

import asyncio
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, Path, Query
from pydantic import Field
from typing_extensions import TypedDict

from base.errors import ResourceError
from indexer.console import as_record, describe_vectors
from indexer.versions.manifest import Manifest
from retriever.calls import IndexName
from retriever.views.example_questions import example_questions
from server.description import Shaped
from server.limits.gate import Read
from server.problems import problem
from server.services import Services, Shared

router = APIRouter(prefix="/api/v1", tags=["indexes"])


class Index(TypedDict):
    """An index: the published version and its contents."""

    name: str
    version: int
    engine: Literal["tantivy", "elasticsearch"]
    papers: int
    passages: int
    published: str
    counts: Annotated[dict[str, int], Field(description="records by outcome")]
    analyzer: Literal["bilingual", "korean", "english"]
    unit: Annotated[str, Field(description="unit of relevance: paper or passage")]
    glossary: dict[str, int]
    citations: Annotated[
        dict[str, int],
        Field(description="references, papers that have some (citing), and matched references"),
    ]
    vectors: str | None
    fingerprint: dict[str, str]
    language_model: Annotated[str | None, Field(description="writes answers; null: quotations")]
    other_models: Annotated[list[str], Field(description="further models that `ask` may choose")]


class UnreadableIndex(TypedDict):
    """An index that cannot be read."""

    name: str
    error: str


class Indexes(TypedDict):
    """All indexes."""

    indexes: list[Index | UnreadableIndex]


@router.get("/indexes")
async def indexes(services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(Indexes)]:
    """List the indexes; an unreadable index is listed with its error."""
    names = await services.indexes.names()
    return {"indexes": await asyncio.gather(*(_described(services, name) for name in names))}


@router.get("/indexes/{name}")
async def index(
    name: Annotated[str, Path(examples=["sample"])], services: Shared, _: Read
) -> Annotated[dict[str, Any], Shaped(Index)]:
    """Describe an index."""
    return _of_manifest(services, await services.indexes.manifest(name))


async def _described(services: Services, name: str) -> dict[str, Any]:
    try:
        return _of_manifest(services, await services.indexes.manifest(name))
    except (ResourceError, OSError) as error:
        return {"name": name, "error": problem(error)["detail"]}


def _of_manifest(services: Services, manifest: Manifest) -> dict[str, Any]:
    llm = services.settings.generator.llm
    return as_record(manifest) | {
        "analyzer": manifest.analyzer,
        "unit": manifest.unit,
        "glossary": manifest.glossary,
        "citations": manifest.citations,
        "vectors": describe_vectors(manifest) or None,
        "fingerprint": manifest.fingerprint,
        "language_model": llm.model if llm.configured else None,
        "other_models": list(llm.models[1:]),
    }


class Examples(TypedDict):
    """Example questions for an index."""

    index: str
    questions: list[str]


@router.get("/examples")
async def examples(
    services: Shared,
    _: Read,
    index: Annotated[IndexName, Query()] = None,
    lang: Annotated[Literal["ko", "en"], Query(description="of the questions", examples=["ko"])] = "en",
) -> Annotated[Examples, Shaped(Examples)]:
    """Return three questions, always the same ones for a version of the index."""
    name = await services.indexes.chosen(index)
    opened = await services.indexes.get(name)
    return {"index": name, "questions": list(await opened.run(example_questions, lang))}


class Source(TypedDict):
    """A source of papers that can be searched instead of an index."""

    name: str
    kind: Annotated[str, Field(description="index, elasticsearch, openalex …")]
    description: NotRequired[Annotated[str, Field(description="its content")]]
    private: Annotated[bool, Field(description="questions stay within the institution")]


class UnopenedSource(TypedDict):
    """A source that cannot be opened."""

    name: str
    kind: str
    description: NotRequired[str]
    error: str


class Sources(TypedDict):
    """The offered sources."""

    sources: list[Source | UnopenedSource]


@router.get("/sources")
async def sources(services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(Sources)]:
    """List the offered sources, and whether questions to them leave the institution."""
    offered = services.sources
    return {"sources": list(await asyncio.gather(*map(offered.described, offered.names())))}
