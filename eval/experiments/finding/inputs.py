"""Options and inputs of the experiments on paper finding: judged papers, and days of the questions."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, TypeAdapter

from base.calls import Flag, Section
from base.errors import InvalidCall
from eval.experiments.benchmarks.benchmark import day_of
from eval.experiments.benchmarks.rows import rows_of
from eval.experiments.experiment import JudgedCall, Seed
from eval.experiments.materials import Materials, declared_sources, opened_materials, with_more
from eval.experiments.topic_values import topic_values
from eval.files import Input
from generator.finding.calls import FindOptions
from indexer.corpora.papers import Paper
from retriever.calls import SourceNames

DAY: TypeAdapter[date] = TypeAdapter(Annotated[date, BeforeValidator(day_of)])
THRESHOLD = FindOptions.model_fields["threshold"].default


class PapersCall(JudgedCall):
    """Options of an experiment on judged papers."""

    files: ClassVar[tuple[str, ...]] = ("topics", "qrels", "papers")

    papers: Annotated[
        str | None,
        Flag(section=Section.PLACE, metavar="FILE"),
        Field(
            description="JSON lines of the papers in QRELS, as of `experiment import`: papers are also "
            "identified by their DOI, arXiv id and title there."
        ),
    ] = None


class FindingCall(PapersCall):
    """Options of an experiment on searches for papers."""

    k: Annotated[
        int, Flag("-k", section=Section.FINDING), Field(ge=1, le=500, description="Papers for each topic.")
    ] = 20
    rounds: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(ge=0, le=10, description="Rounds of further queries, made from the relevant papers."),
    ] = 1
    seed: Annotated[Seed, Field(description="Seed of the random choice of further queries.")] = 0
    pure: Annotated[
        bool,
        Flag("--additions", section=Section.FINDING, help="Add what `find-papers` adds to SPAR's method."),
        Field(description="SPAR's method alone, as of `find-papers --pure`."),
    ] = True
    sources: Annotated[
        SourceNames, Field(description="Sources to search, as SPAR does, instead of the index.")
    ] = ()


@dataclass(frozen=True, slots=True)
class FindingMaterials(Materials):
    """Inputs with days of the questions, by query_id, and records of judged papers, by id."""

    days: Mapping[str, date] = field(default_factory=dict)
    records: Mapping[str, Paper] = field(default_factory=dict)


@contextmanager
def opened_finding(call: PapersCall) -> Iterator[FindingMaterials]:
    """Open the inputs of a call.

    Raises:
        BadTopics, BadQrels, BadBenchmark: with file and line.
        InvalidCall: no topic has a relevant judgement, or the index holds passages.
        UnknownSource, InvalidSource: as `read_declared`.
        ResourceError: as `open_index`.
    """
    with ExitStack() as opened:
        materials = opened.enter_context(opened_materials(call, by_id=call.papers is None))
        sources = opened.enter_context(declared_sources(getattr(call, "sources", ()), materials.settings))
        if not materials.collapses:
            raise InvalidCall(
                f"the index {materials.index.manifest.name!r} holds passages; papers are found in an index "
                "of papers",
                remedy="index the papers.jsonl of `experiment import`",
            )
        inputs = dict(materials.inputs)
        records: dict[str, Paper] = {}
        if call.papers is not None:
            inputs["papers"] = Input(call.papers)
            rows = rows_of(Path(call.papers), Paper, inputs["papers"])
            records = {paper.id: paper for _, paper in rows}
        days = topic_values(inputs["topics"], "date", DAY)
        yield with_more(
            FindingMaterials, materials, inputs=inputs, days=days, records=records, sources=sources
        )


RULES = "rules"
BRIEF, COMPLEX = "model, brief", "model, complex"
# The options of a search for papers, by judge.
JUDGES: Mapping[str, Mapping[str, Any]] = {
    RULES: {"without": frozenset({"judgement"})},
    BRIEF: {"judge": "brief"},
    COMPLEX: {"judge": "complex"},
}


def judges_of(materials: FindingMaterials) -> list[str]:
    """Return the judges of a call: the rules, and the model's if it is used."""
    return [judge for judge in JUDGES if judge == RULES or materials.model is not None]
