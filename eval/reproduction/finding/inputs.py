"""Options and inputs of the experiments on paper finding: judged papers, and days of the questions."""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from base.calls import Flag, Section, reason
from base.errors import InvalidCall
from eval.errors import BadBenchmark, BadTopics
from eval.files import GZIP_MAGIC, numbered_lines
from eval.reproduction.benchmarks.benchmark import Day
from eval.reproduction.experiment import JudgedCall
from eval.reproduction.materials import Input, Materials, opened_materials
from generator.finding.calls import FindOptions
from indexer.corpora.papers import Paper, why_invalid
from indexer.corpora.readers.jsonl import DECODER

THRESHOLD = FindOptions.model_fields["threshold"].default


class FindingCall(JudgedCall):
    """Options of a search for papers, and of its evaluation."""

    files: ClassVar[tuple[str, ...]] = ("topics", "qrels", "papers")

    papers: Annotated[
        str | None,
        Flag(section=Section.PLACE, metavar="FILE"),
        Field(
            description="JSON lines of the papers in QRELS, as of `experiment import`: papers are also "
            "identified by their DOI, arXiv id and title there."
        ),
    ] = None
    k: Annotated[
        int, Flag("-k", section=Section.FINDING), Field(ge=1, le=500, description="Papers for each topic.")
    ] = 20
    rounds: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(ge=0, le=10, description="Rounds of further queries, made from the relevant papers."),
    ] = 1
    pure: Annotated[
        bool,
        Flag(section=Section.FINDING),
        Field(description="SPAR's method alone, as of `find-papers --pure`."),
    ] = False


@dataclass(frozen=True, slots=True)
class FindingMaterials(Materials):
    """Inputs with days of the questions, by query_id, and records of judged papers, by id."""

    days: Mapping[str, date] = field(default_factory=dict)
    records: Mapping[str, Paper] = field(default_factory=dict)


@contextmanager
def opened_finding(call: FindingCall) -> Iterator[FindingMaterials]:
    """Open the inputs of a call.

    Raises:
        BadTopics, BadQrels, BadBenchmark: with file and line.
        InvalidCall: no topic has a relevant judgement, or the index holds passages.
        ResourceError: as `open_index`.
    """
    with opened_materials(call, by_id=call.papers is None) as materials:
        if not materials.collapses:
            raise InvalidCall(
                f"the index {materials.index.manifest.name!r} holds passages; papers are found in an index "
                "of papers",
                remedy="index the papers.jsonl of `experiment import`",
            )
        given = {each.name: getattr(materials, each.name) for each in fields(materials)}
        records: dict[str, Paper] = {}
        if call.papers is not None:
            given["inputs"] = {**materials.inputs, "papers": Input(call.papers)}
            records = read_papers(Path(call.papers), given["inputs"]["papers"])
        yield FindingMaterials(**given, days=days_of(materials.inputs["topics"]), records=records)


def read_papers(path: Path, digest: Input | None = None) -> dict[str, Paper]:
    """Read records by id; raises BadBenchmark with file and line."""
    papers: dict[str, Paper] = {}
    for number, line in numbered_lines(path, BadBenchmark, digest):
        try:
            paper = Paper.model_validate(DECODER.decode(line))
        except ValidationError as error:
            raise BadBenchmark(f"{path}:{number}: {why_invalid(error)}") from None
        except (ValueError, RecursionError) as error:
            raise BadBenchmark(f"{path}:{number}: not JSON ({error})") from None
        papers[paper.id] = paper
    return papers


class DatedTopic(BaseModel):
    """The id and the day of a topic."""

    query_id: str | int
    date: Day = None


DATED = TypeAdapter(DatedTopic)


def days_of(topics: Input) -> dict[str, date]:
    """Return the days of topics in JSON lines, their key `date`; raises BadTopics with file and line.

    They are read from the copy of the bytes, since a pipe can be read only once.
    """
    content = Path(topics.path).read_bytes() if topics.content is None else topics.content
    if content[:2] == GZIP_MAGIC:
        content = gzip.decompress(content)
    days: dict[str, date] = {}
    for number, line in enumerate(content.decode("utf-8-sig").split("\n"), 1):
        if '"date"' not in line or not line.lstrip().startswith("{"):
            continue
        try:
            topic = DATED.validate_python(DECODER.decode(line))
        except ValidationError as error:
            raise BadTopics(f"{topics.path}:{number}: {reason(error)}") from None
        if topic.date:
            days[str(topic.query_id)] = topic.date
    return days
