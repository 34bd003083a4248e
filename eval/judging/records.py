"""Records of a benchmark in progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from indexer.corpora.papers import Paper

Origin: TypeAlias = Literal["seed", "extended"]
StageName: TypeAlias = Literal["coarse", "fine"]
Judge: TypeAlias = Literal["rules", "brief", "complex"]
Identity: TypeAlias = tuple[str, str]  # the name of the index or source, and the id of a paper in it
Pair: TypeAlias = tuple[str, Identity]  # query_id and paper

HIGHEST_GRADE = 3
# Decide, with stage and judge, what a score means.
OF_A_SCALE = ("model", "prompts", "encoder", "reranker")


@dataclass(frozen=True, slots=True)
class Made:
    """The first record: the seed of samples and of the order of papers."""

    seed: int
    created: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A command that added records, which name it by its `number`.

    `made_with` are the inputs besides the options: software, models, settings, index, files.
    """

    number: int
    step: str  # the name of the command
    started: str
    options: dict[str, Any]
    made_with: dict[str, Any]

    @property
    def scale(self) -> tuple[Any, ...]:
        """The stage, and all that decides what a score means; other scales need other thresholds."""
        decisive = (self.made_with.get(name) or None for name in OF_A_SCALE)
        return self.options["stage"], self.options["judge"], *decisive


@dataclass(frozen=True, slots=True)
class Question:
    """A question; one that a model derived from a seed has the seed's query_id."""

    query_id: str
    question: str
    origin: Origin
    call: int
    seed: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The decision of a person about a question; the last one counts."""

    query_id: str
    kept: bool
    assessor: str
    at: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The papers of one ranking for one question, best first; `papers` has the records that were new."""

    query_id: str
    place: str  # the index or source; of `find-papers` all of them, joined by a comma
    method: str
    depth: int  # the number of papers requested
    ranked: tuple[Identity, ...]  # source and id of each paper
    papers: tuple[tuple[str, Paper], ...]  # (source, record)
    call: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement by rules or by a model."""

    query_id: str
    paper: Identity
    stage: StageName
    judge: Judge  # the rules, or the prompt of the model
    by: str  # the name of the model, or of the rule
    score: float
    reason: str
    call: int
    prompt: str = ""  # name and language of the prompt, such as `judgement_brief.ko`; "" for rules
    version: int = 0  # of the prompt; 0 for rules
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A judgement by a person; the last one of a paper counts."""

    query_id: str
    paper: Identity
    assessor: str
    grade: int
    at: str
