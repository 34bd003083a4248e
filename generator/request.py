"""Requests for an answer, settings of all stages, and resources of a way."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from generator.llm import LanguageModel
from generator.settings import EVIDENCE, GeneratorSettings, HopsMode
from indexer.settings import IndexerSettings
from retriever.constraints.parsing import Constraints
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.requests.request import SearchRequest
from retriever.settings import RetrieverSettings

if TYPE_CHECKING:  # an answer without a model does not need it
    import httpx

WAY = METHOD = "shrag"  # defaults


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of `user` or `assistant` in a conversation; other roles are ignored."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question with the way, the search method and the options of its answer."""

    question: str
    way: str = WAY
    method: str = METHOD
    evidence: int = EVIDENCE
    filters: Filters = field(default_factory=Filters)
    constraints: Constraints | None = None  # replace the question's constraints
    keywords: tuple[str, ...] | None = None  # replace the model's; typed and ordered by a person
    skip: tuple[str, ...] = ()  # names of queries that are not sent
    topic: str | None = None  # the paper that the question is about: its id or exact title
    hops: HopsMode = "never"  # whether to answer in several steps
    turns: tuple[Turn, ...] = ()  # of the conversation before the question, oldest first
    low_scores: bool = False  # whether papers far below the best one are evidence; runs need them

    def search(self) -> SearchRequest:
        """Return the search request for the evidence."""
        return SearchRequest(
            self.question,
            method=self.method,
            k=self.evidence,
            filters=self.filters,
            constraints=self.constraints,
            keywords=self.keywords,
            skip=self.skip,
            evidence=True,
        )

    def as_record(self) -> dict[str, Any]:
        """Return the request as JSON, for a trace."""
        return {
            "question": self.question,
            "way": self.way,
            "method": self.method,
            "evidence": self.evidence,
            "filters": self.filters.as_record(),
            "constraints": self.constraints.as_record() if self.constraints is not None else None,
            "keywords": None if self.keywords is None else list(self.keywords),
            "skip": list(self.skip),
            **({"topic": self.topic} if self.topic is not None else {}),
            **({"hops": self.hops} if self.hops != "never" else {}),
            **({"turns": [asdict(turn) for turn in self.turns]} if self.turns else {}),
        }


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

    def language_model(self, transport: "httpx.AsyncBaseTransport | None" = None) -> LanguageModel:
        """Make the language model with its cache; open it with `async with`.

        `transport` replaces the network in tests.
        """
        return LanguageModel(self.generator.llm, transport=transport, cache=self.generator.cache)


@dataclass(frozen=True, slots=True)
class Resources:
    """Index, settings and model of a way; the caller keeps them open, and questions may share them."""

    index: SearchIndex
    settings: Settings
    model: LanguageModel | None
