"""The request, the settings of all stages, and the resources of a way."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from generator.llm import LanguageModel
from generator.settings import EVIDENCE, GeneratorSettings, HopsMode
from indexer.settings import IndexerSettings
from retriever.constraints.parsing import Constraints
from retriever.index import SearchIndex
from retriever.queries.boolean import Filters
from retriever.requests.request import SearchRequest
from retriever.settings import RetrieverSettings

if TYPE_CHECKING:  # an answer without a model does not wait for it
    import httpx

WAY = METHOD = "shrag"  # where nothing names another


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said in a conversation by `user` or `assistant`; what others say is not read."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question, the way to its answer, the search's method, and how many papers the answer rests on."""

    question: str
    way: str = WAY
    method: str = METHOD
    evidence: int = EVIDENCE
    filters: Filters = field(default_factory=Filters)
    constraints: Constraints | None = None  # instead of those of the question
    keywords: tuple[str, ...] | None = None  # instead of the model's, as a person typed and ordered them
    skip: tuple[str, ...] = ()  # names of queries that are not sent
    topic: str | None = None  # the paper that the question is about, by its id or exact title
    hops: HopsMode = "never"  # whether it is answered in several steps
    turns: tuple[Turn, ...] = ()  # of the conversation before the question, oldest first
    low_scores: bool = False  # whether papers far below the best one are evidence, as a run needs

    def search(self) -> SearchRequest:
        """Return the search whose hits the answer is to rest on."""
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
        """Make the language model with its cache, to be opened by `async with`.

        `transport` stands in for the network.
        """
        return LanguageModel(self.generator.llm, transport=transport, cache=self.generator.cache)


@dataclass(frozen=True, slots=True)
class Resources:
    """What a way works with; the caller keeps it open, and many questions may share it."""

    index: SearchIndex
    settings: Settings
    model: LanguageModel | None
