"""Calls of the steps of a benchmark: the options of the commands."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from base.calls import Call, Flag, Section, described
from retriever.calls import IndexName, SourceNames

StageName: TypeAlias = Literal["coarse", "fine"]
Judge: TypeAlias = Literal["rules", "brief", "complex"]

METHODS = ("shrag", "or", "paper")  # default of `pool`
NEAREST = "dense"  # a default, too, if the index has vectors
MOST_DERIVED = 20  # questions of one seed
RULES: Judge = "rules"
# Defaults. Rules with a cross-encoder or an encoder use the thresholds of `brief`: both score relevance.
THRESHOLDS: Mapping[StageName, Mapping[Judge, float]] = {
    "coarse": {"rules": 0.005, "brief": 0.3, "complex": 0.2},
    "fine": {"rules": 0.02, "brief": 0.5, "complex": 0.4},
}


class QuestionsCall(Call):
    """Options of `questions`."""

    extend: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_DERIVED,
            description="Questions that the configured language model derives from each seed.",
        ),
    ] = 0
    seed: Annotated[
        int | None,
        Field(
            ge=0,
            lt=2**63,
            description="Seed of samples and of the order of papers, for a new folder. Default: 0.",
        ),
    ] = None


class PoolCall(Call):
    """Options of `pool`."""

    index: IndexName = None
    sources: Annotated[
        SourceNames,
        Field(description="Sources to search too, each separately; without --name, no index is searched."),
    ] = ()
    method: Annotated[
        tuple[str, ...],
        Flag(section=Section.SEARCHING, metavar="METHOD", commas=True),
        Field(
            description=f"Methods to pool. Default: {', '.join(METHODS)}; {NEAREST} if the index has vectors."
        ),
    ] = ()
    find: Annotated[
        bool,
        Flag(section=Section.SEARCHING),
        Field(description="Pool the papers of find-papers too, in index and sources together."),
    ] = False
    model: Annotated[
        bool,
        Flag(section=Section.SEARCHING),
        Field(description="Let find-papers use the configured language model."),
    ] = False
    depth: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=1000, description="Pool depth: papers of each method, place and question."),
    ] = 50


class JudgeCall(Call):
    """Options of `judge`."""

    stage: Annotated[
        StageName,
        Flag(argument=True),
        described(enum=list(THRESHOLDS), example="coarse"),
        Field(description="coarse: all pooled papers; fine: papers that passed the coarse stage."),
    ]
    by: Annotated[
        Judge | None,
        Field(
            description="Judge: rules, or the configured language model with the brief or the complex "
            "prompt. Default: coarse rules, fine complex."
        ),
    ] = None
    threshold: Annotated[
        float | None,
        Field(ge=0, le=1, description="Least score of a paper that passes. Default: by stage and judge."),
    ] = None

    @property
    def judge(self) -> Judge:
        """The judge."""
        return self.by or (RULES if self.stage == "coarse" else "complex")
