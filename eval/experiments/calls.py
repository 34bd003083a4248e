"""The options of experiments."""

from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from base.calls import Call, Flag, Section
from retriever.calls import IndexName

Documents: TypeAlias = Annotated[
    int, Flag("-k", section=Section.LIMITS), Field(ge=1, le=100, description="Documents for each topic.")
]
Seed: TypeAlias = Annotated[
    int, Flag(section=Section.LIMITS), Field(ge=0, lt=2**63, description="Seed of the samples.")
]
Strategies: TypeAlias = Annotated[
    str | None,
    Flag(section=Section.SEARCHING, metavar="FILE"),
    Field(
        description="Recorded strategies of the topics, JSON lines with query_id, instead of a strategist."
    ),
]


class ExperimentCall(Call):
    """The options of every experiment; `files` names the fields that are paths of inputs, or None."""

    files: ClassVar[tuple[str, ...]] = ()

    model: Annotated[
        bool,
        Flag(section=Section.ANSWERING),
        Field(description="Use the configured language model; without it, statistics and rules."),
    ] = False


class IndexCall(ExperimentCall):
    """The options of an experiment on an index of the user."""

    index: IndexName = None


class JudgedCall(IndexCall):
    """The options of an experiment on an index, topics and judgements of the user."""

    files: ClassVar[tuple[str, ...]] = ("topics", "qrels")

    topics: Annotated[
        str,
        Flag(argument=True),
        Field(description="File of topics: id, tab, question, or JSON lines."),
    ]
    qrels: Annotated[str, Flag(argument=True), Field(description="File of judgements, TREC's or BEIR's.")]


class StrategyCall(JudgedCall):
    """The options of an experiment whose searches use strategies."""

    files: ClassVar[tuple[str, ...]] = (*JudgedCall.files, "strategies")

    strategies: Strategies = None
