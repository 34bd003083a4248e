"""Requests for an answer, settings of all stages, and resources of a way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainSerializer

from base.notes import Note
from base.records import IF_ANY, IF_KNOWN, INTERNAL, Recordable
from generator.errors import UnknownModel
from generator.llm import LanguageModel
from generator.settings import EVIDENCE, GeneratorSettings, HopsMode
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategist, Strategy

if TYPE_CHECKING:  # an answer without a model does not need it
    import httpx

WAY = METHOD = "shrag"  # defaults


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of `user` or `assistant` in a conversation; other roles are ignored."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class AskRequest(Recordable):
    """A question with the way, the search method and the options of its answer."""

    question: str
    way: str = WAY
    method: str = METHOD
    evidence: int = EVIDENCE
    filters: Annotated[Filters, PlainSerializer(Filters.as_record)] = field(default_factory=Filters)
    strategy: Annotated[Strategy | None, IF_KNOWN] = None  # replaces the strategist's
    strategist: Strategist = "model"  # without a configured model, statistics
    keywords: tuple[str, ...] | None = None  # replace those of the strategy; typed and ordered by a person
    exclude: Annotated[tuple[str, ...], IF_ANY] = ()  # added to the exclusions of the strategy
    conditions: bool = True  # whether explicit conditions in the question apply
    skip: tuple[str, ...] = ()  # names of queries that are not sent
    topic: Annotated[str | None, IF_KNOWN] = None  # the paper of the question: its id or exact title
    hops: Annotated[HopsMode, Field(exclude_if="never".__eq__)] = "never"  # whether to answer in steps
    model: Annotated[str | None, IF_KNOWN] = None  # one of the configured models, instead of the first
    turns: Annotated[tuple[Turn, ...], IF_ANY] = ()  # of the conversation before it, oldest first
    low_scores: Annotated[bool, INTERNAL] = False  # whether papers far below the best one are evidence

    def search(self) -> SearchRequest:
        """Return the search request for the evidence."""
        return SearchRequest(
            self.question,
            method=self.method,
            k=self.evidence,
            filters=self.filters,
            strategy=self.strategy,
            keywords=self.keywords,
            exclude=self.exclude,
            conditions=self.conditions,
            phrases=False,
            skip=self.skip,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of all stages."""

    indexer: IndexerSettings
    retriever: RetrieverSettings
    generator: GeneratorSettings

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the variables `SHRAG_…` and `shrag.toml`; raises ValidationError, InvalidSettingsFile."""
        return cls(IndexerSettings(), RetrieverSettings(), GeneratorSettings())

    def with_llm(self, **changes: Any) -> "Settings":
        """Return settings with other values of the language model; `base_url=None` is without one."""
        llm = self.generator.llm.model_copy(update=changes)
        return replace(self, generator=self.generator.model_copy(update={"llm": llm}))

    def with_model(self, name: str) -> "Settings":
        """Return settings with a model of the same endpoint; a revision is that of the configured one."""
        llm = self.generator.llm
        return self if name == llm.model else self.with_llm(model=name, revision=None)

    def with_chosen_model(self, name: str | None) -> "Settings":
        """Return settings with one of the configured models; unchanged for None.

        Raises:
            UnknownModel: the settings do not name it.
        """
        names = self.generator.llm.models
        if name is not None and name not in names:
            raise UnknownModel(Note("no_such_model", model=name, there=", ".join(names) or "none"))
        return self if name is None else self.with_model(name)

    def language_model(self, transport: "httpx.AsyncBaseTransport | None" = None) -> LanguageModel:
        """Make the language model with its cache; open it with `async with`.

        `transport` replaces the network in tests.
        """
        return LanguageModel(self.generator.llm, transport=transport, cache=self.generator.cache)

    @asynccontextmanager
    async def opened_model(self, model: LanguageModel | None = None) -> AsyncIterator[LanguageModel | None]:
        """Open the configured model, unless an open one is given; yield None without one."""
        if model is not None or not self.generator.llm.configured:
            yield model
        else:
            async with self.language_model() as opened:
                yield opened


@dataclass(frozen=True, slots=True)
class Resources:
    """Index, settings and model of a way; the caller keeps them open, and questions may share them."""

    index: SearchIndex
    settings: Settings
    model: LanguageModel | None
