"""Records of a benchmark in progress: each is one JSON line of a file in the folder.

| file | a line |
|---|---|
| calls.jsonl | `CallRecord`: a command that added lines, with everything that affects them |
| questions.jsonl | `Question` |
| selections.jsonl | `Selection`: a decision about a question; the last one counts |
| pool.jsonl | `Ranked`: the papers of one ranking for one question |
| judgements.jsonl | `Judged`: a judgement by rules or by a model |
| assessments/NAME.jsonl | `Assessment`: a judgement by the assessor NAME; the last one of a paper counts |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from base.records import IF_ANY
from indexer.corpora.papers import Paper

Origin: TypeAlias = Literal["seed", "extended"]
StageName: TypeAlias = Literal["coarse", "fine"]
Judge: TypeAlias = Literal["rules", "brief", "complex"]
Identity: TypeAlias = tuple[str, str]  # the name of the index or source, and the id of a paper in it
Pair: TypeAlias = tuple[str, Identity]  # query_id and paper

ASSESSOR = re.compile(r"\w[\w.-]{0,63}")  # name of an assessor
HIGHEST_GRADE = 3
Grade = Annotated[int, Field(ge=0, le=HIGHEST_GRADE, strict=True)]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
QueryId = Annotated[str, Field(pattern=r"^\S+$")]


class Options(BaseModel):
    """Options of a command; later commands read the declared ones."""

    model_config = ConfigDict(extra="allow")

    places: Annotated[list[str], IF_ANY] = []  # of `pool`: the names of the index and the sources
    index: Annotated[str, IF_ANY] = ""
    sources: Annotated[list[str], IF_ANY] = []
    stage: Annotated[StageName | None, IF_ANY] = None  # of `judge`, like the next two
    judge: Annotated[Judge | None, IF_ANY] = None
    threshold: Annotated[Score, Field(strict=True), IF_ANY] = 0.0


class MadeWith(BaseModel):
    """Inputs of a command besides its options: software, models, settings, index, files."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, IF_ANY] = ""
    prompts: Annotated[dict[str, int], IF_ANY] = {}  # version of each prompt
    encoder: Annotated[dict[str, Any], IF_ANY] = {}
    reranker: Annotated[dict[str, Any], IF_ANY] = {}


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A command that added lines; lines name it by its `number`."""

    number: Annotated[int, Field(ge=1)]
    step: str  # the name of the command
    started: str
    options: Options
    made_with: MadeWith

    @property
    def scale(self) -> tuple[Any, ...]:
        """The stage, and all that decides what a score means; other scales need other thresholds."""
        made, options = self.made_with, self.options
        return options.stage, options.judge, made.model, made.prompts, made.encoder, made.reranker


@dataclass(frozen=True, slots=True)
class Question:
    """A question; one that a model derived from a seed has the seed's query_id."""

    query_id: QueryId
    question: Annotated[str, Field(pattern=r"\S")]
    origin: Origin
    call: int
    seed: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The decision of a person about a question."""

    query_id: QueryId
    kept: bool
    assessor: str
    at: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The papers of one ranking for one question, best first; `papers` has the records that were new.

    Args:
        place: the index or source; of `find-papers` all of them, joined by a comma.
        depth: the number of papers requested.
        ranked: source and id of each paper.
    """

    query_id: QueryId
    place: str
    method: str
    depth: Annotated[int, Field(ge=1)]
    ranked: tuple[Identity, ...]
    papers: tuple[tuple[str, Paper], ...]  # (source, record)
    call: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement by rules or by a model.

    Args:
        judge: the rules, or the prompt of the model.
        by: the name of the model, or of the rule.
        prompt: name and language of the prompt, such as `judgement_brief.ko`; "" for rules.
        version: of the prompt; 0 for rules.
    """

    query_id: QueryId
    paper: Identity
    stage: StageName
    judge: Judge
    by: str
    score: Score
    reason: str
    call: int
    prompt: str = ""
    version: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A judgement by a person."""

    query_id: QueryId
    paper: Identity
    grade: Grade
    at: str
