"""State of a search for papers: understanding, queries, papers, judgements, and open work.

The value is immutable; each step returns a new one. It contains everything needed to resume the search:
unsent queries, unjudged papers, and references that are not followed yet. It is saved as JSON and validated
when it is loaded.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError

from base.calls import reason
from base.errors import InvalidCall
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.notes import SavedNote
from generator.budgets import Allowance, Spent
from generator.finding.calls import FindRequest
from generator.llm import LanguageModel
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Paper
from retriever.conditions import Conditions
from retriever.exclusions import Excluded
from retriever.queries.boolean import Range
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.relevance.papers import PaperRelevance
from retriever.sources.merging import LimitedSource, MergedPaper

Intent = Literal["survey", "recent", "comparison", "specific", "other"]
Year = Annotated[int, Field(ge=FIRST_YEAR, le=LAST_YEAR)]

MOST_BYTES = 256_000_000  # of a saved state
TITLE_CHARACTERS, ABSTRACT_CHARACTERS = 1_000, 4_000  # limits of a paper in a prompt
BODY_CHARACTERS = 2_000  # of the full text, for records without an abstract
QueryKind = Literal["question", "expanded", "method", "application", "limitation"]
FoundKind = Literal["query", "reference", "citing"]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Round = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Understanding:
    """The interpretation of a question: intent, domain, time requirement, sources and queries.

    `first_year` and `last_year` limit the papers, null is open; `recent` requests new papers without naming
    years. `sources` are the names of the sources to search, all if empty.
    """

    intent: Intent = "other"
    domain: str = ""
    first_year: Year | None = None
    last_year: Year | None = None
    recent: bool = False
    sources: tuple[str, ...] = ()
    sources_reason: str = ""
    expands: bool = False
    expansion_reason: str = ""
    queries: tuple[str, ...] = ()
    by: Annotated[str, Field(description="model or rules")] = "rules"
    notes: tuple[str, ...] = ()

    @property
    def years(self) -> Range | None:
        """Range of years; None without a limit."""
        bounds = self.first_year, self.last_year
        return None if bounds == (None, None) else Range(*bounds)

    @property
    def asks_for_time(self) -> bool:
        """Whether the question asks for papers of certain years, or for new papers."""
        return self.recent or self.years is not None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query; `paper` is the id of the paper it was evolved from, `found` the paper ids after sending."""

    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    kind: QueryKind
    round: Round = 0
    paper: str = ""
    found: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FoundBy:
    """How a paper was found: by a query, as a reference of a paper, or as citing a paper."""

    kind: FoundKind
    of: Annotated[str, Field(description="the query's text, or the paper's id")]
    rank: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Relevance of a paper, its reason, and the judge: a model's name, `words`, `cosine`.

    `text_hash` is of the judged text; a changed text is judged again. A `likely` score is a probability.
    """

    score: Score
    reason: SavedNote
    by: str
    text_hash: str
    parts: Mapping[str, Finite] = field(default_factory=dict)
    likely: bool = False


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """A paper, how it was found, and its judgement; `layer` is 0 for papers found by queries."""

    merged: MergedPaper
    found_by: Annotated[tuple[FoundBy, ...], Field(min_length=1)]
    layer: Annotated[int, Field(ge=0)] = 0
    judgement: Judgement | None = None
    followed: bool = False  # references and citing papers were requested
    evolved: bool = False

    @property
    def paper(self) -> Paper:
        """Record of the paper."""
        return self.merged.paper

    @property
    def title(self) -> str:
        """The title, in the other language if it has only that."""
        return self.paper.title or self.paper.title2

    @property
    def score(self) -> float:
        """Judged relevance, 0 if not judged."""
        return self.judgement.score if self.judgement else 0.0

    @property
    def reason(self) -> str:
        """Reason of the judgement, "" if not judged."""
        return self.judgement.reason if self.judgement else ""

    def prompt_values(self) -> dict[str, str]:
        """Return title and abstract for a prompt."""
        abstract = self.paper.abstract or self.paper.abstract2
        return {"title": self.title[:TITLE_CHARACTERS], "abstract": abstract[:ABSTRACT_CHARACTERS]}


def found_again(known: KnownPaper | None, merged: MergedPaper, by: FoundBy, *, layer: int) -> KnownPaper:
    """Return a paper with one more `found_by`."""
    if known is None:
        return KnownPaper(replace(merged, paper=_without_body(merged.paper)), (by,), layer)
    if any((each.kind, each.of) == (by.kind, by.of) for each in known.found_by):
        return known
    paper = replace(merged, paper=_without_body(merged.paper))
    return replace(known, merged=paper, found_by=(*known.found_by, by), layer=min(known.layer, layer))


def _without_body(paper: Paper) -> Paper:
    if not paper.body:
        return paper
    text = paper.abstract or paper.body[:BODY_CHARACTERS]
    return paper.model_copy(update={"body": "", "abstract": text})


@dataclass(frozen=True, slots=True)
class FindingState:
    """The complete state; `papers` by id, in the order in which they were found."""

    question: str
    version: Literal[1] = 1
    subject: str = ""  # the question without years and words to leave out
    understanding: Understanding | None = None
    queries: tuple[SearchQuery, ...] = ()
    papers: Mapping[str, KnownPaper] = field(default_factory=dict)
    round: Round = 0
    # Prompt versions of this search and of the searches that it resumes: {"evolver.en": (2,)}.
    prompts: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    spent: Spent = field(default_factory=Spent)
    expected_f: Score = 1.0  # of the best list by likely scores; 1 without any
    # The last order by a model: id, score and reason of each paper.
    model_order: tuple[tuple[str, Score, str], ...] = ()
    # Request of the last search, without its budget; not part of the result.
    request: FindRequest | None = field(default=None, compare=False)

    @property
    def asked(self) -> str:
        """Text that papers are searched for and judged by."""
        return self.subject or self.question

    @property
    def sources(self) -> set[str]:
        """Names of the sources of the papers."""
        return {source for known in self.papers.values() for source, _ in known.merged.ids}

    @property
    def merged(self) -> dict[str, MergedPaper]:
        """Merged papers by id."""
        return {paper_id: known.merged for paper_id, known in self.papers.items()}

    def with_prompts(self, versions: Mapping[str, int]) -> Self:
        """Return the state with versions of prompts added."""
        known = {name: {*self.prompts.get(name, ()), version} for name, version in versions.items()}
        return replace(
            self, prompts={**self.prompts, **{name: tuple(sorted(of)) for name, of in known.items()}}
        )

    def with_papers(self, papers: Iterable[tuple[str, KnownPaper]]) -> Self:
        """Return the state with these papers added or replaced."""
        return replace(self, papers={**self.papers, **dict(papers)})

    def is_relevant(self, known: KnownPaper, threshold: float) -> bool:
        """Check whether a paper is relevant; a likely score is compared with `threshold` × expected F.

        From half of the expected F on, a paper raises the list's F (`paper_ranking.py`).
        """
        judged = known.judgement
        return judged is not None and judged.score >= threshold * (self.expected_f if judged.likely else 1)

    def relevant(self, threshold: float) -> list[tuple[str, KnownPaper]]:
        """Return the papers judged relevant, best first; ties in the order found."""
        found = [item for item in self.papers.items() if self.is_relevant(item[1], threshold)]
        return sorted(found, key=lambda item: -item[1].score)

    def as_json(self) -> bytes:
        """Return the state as JSON, in one line."""
        return _adapter().dump_json(self)

    @classmethod
    def of_json(cls, text: bytes) -> "FindingState":
        """Parse a state; raises ValidationError."""
        return _adapter().validate_json(text)

    def save(self, path: Path) -> None:
        """Write the state as JSON; raises OutputNotWritten."""
        write_output(path, self.as_json() + b"\n")

    @classmethod
    def load(cls, path: Path) -> "FindingState":
        """Load a saved state; an InvalidCall names a file that is unreadable or invalid."""
        try:
            return cls.of_json(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError as error:
            raise InvalidCall(f"{path} is not a saved search of find-papers: {reason(error)}") from None


def hash_of(paper: Paper) -> str:
    """Return the hash of the judged text of a paper."""
    text = f"{paper.title}\n{paper.title2}\n{paper.abstract}\n{paper.abstract2}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _adapter() -> "TypeAdapter[FindingState]":
    return TypeAdapter(FindingState)


@dataclass(frozen=True, slots=True)
class FindResources:
    """A request with the sources, models and budget of its search; the caller keeps them open."""

    request: FindRequest
    sources: Sequence[LimitedSource]
    relevance: PaperRelevance
    ranking: QuestionRanking
    model: LanguageModel | None
    allowance: Allowance
    conditions: Conditions  # explicit ones of the question
    excluded: tuple[Excluded, ...] = ()  # the exclusions among them, analysed

    @property
    def ranks(self) -> bool:
        """Whether `shrag` ranks the question's papers, because no model judges them."""
        return self.model is None and not self.relevance.has_model
