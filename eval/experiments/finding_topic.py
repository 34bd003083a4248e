"""Searches for papers in experiments: options and inputs of a call, and a question with its judged papers.

The experiments on paper finding (SPAR, Shi et al. 2025) search with variants of a call. The record of a
search has the counts of `comparing.py` for its list, and for all papers that it examined or judged.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import date
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from base.calls import Flag, Section
from base.errors import InvalidCall
from eval.collection import TopicLine
from eval.experiments.comparing import Record, set_counts
from eval.experiments.experiment import Results, Topic, TopicResult, result_of
from eval.experiments.layouts import Day, rows_of
from eval.experiments.materials import FILE, Inputs, JudgedCall, option, read_judged, seed
from eval.experiments.paper_identity import JudgedPapers, is_after
from eval.files import Input
from eval.runs import Ranking, as_written
from generator.errors import CircuitOpen, ContextExceeded, ModelFailed, ModelRefusedCall
from generator.finding.agents import PURE
from generator.finding.calls import FindOptions, FindRequest
from generator.finding.finding import OpenedSources, find_in_sources, find_resources, index_as_source
from generator.finding.result import FoundPapers
from generator.finding.state import FindingState, FindResources
from generator.pipeline import Settings
from generator.tracing import Step
from indexer.corpora.papers import Paper
from retriever.calls import SourceNames
from retriever.conditions import find_conditions
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters

FINDING = Flag(section=Section.FINDING)
THRESHOLD = FindOptions.model_fields["threshold"].default
Options: TypeAlias = Mapping[str, Any]  # fields of `FindRequest`
# The options of a search for papers, by judge.
JUDGES: Mapping[str, Options] = {
    "rules": {"without": frozenset({"judgement"})},
    "model, brief": {"judge": "brief"},
    "model, complex": {"judge": "complex"},
}
JUDGED_BY_MODEL = JUDGES.keys() - {"rules"}


class PapersCall(JudgedCall):
    """Options of an experiment on judged papers."""

    papers: str | None = option(
        "JSON lines of the papers in QRELS, as of `experiment import`: papers are also identified by their "
        "DOI, arXiv id and title there.",
        None,
        FILE,
    )


class FindingCall(PapersCall):
    """Options of an experiment on searches for papers."""

    k: int = option("Papers for each topic.", 20, replace(FINDING, name="-k"), ge=1, le=500)
    rounds: int = option("Rounds of further queries, made from the relevant papers.", 1, FINDING, ge=0, le=10)
    seed: int = seed("Seed of the random choice of further queries.")
    pure: bool = option(
        "SPAR's method alone, as of `find-papers --pure`.",
        default=True,
        flag=replace(FINDING, name="--additions", help="Add what `find-papers` adds to SPAR's method."),
    )
    sources: Annotated[
        SourceNames, Field(description="Sources to search, as SPAR does, instead of the index.")
    ] = ()


class DatedTopic(TopicLine):
    """A topic, with the day of its question if there is one."""

    date: Day = None


def read_finding(call: PapersCall, settings: Settings) -> Inputs:
    """Read the inputs of a call; `own` are the records of judged papers by id."""
    usual = read_judged(call, kind=DatedTopic)
    file = {"papers": Input(call.papers)} if call.papers is not None else {}
    records = {paper.id: paper for each in file.values() for _, paper in rows_of(each, Paper)}
    notes = ["Published values are of other papers and questions: compare within a table only."]
    if not settings.generator.llm.configured:
        notes.append("Without a language model (--model), rules judge and no queries are added.")
    if dated := sum(topic.date is not None for topic in usual.lines.values()):
        notes.append(f"{dated:,} topics have a day: papers that are newer are left out.")
    notes += usual.notes
    files = {**usual.files, **file}
    return replace(usual, files=files, notes=tuple(notes), own=records, by_id=call.papers is None)


def failed_notes(of: Results) -> tuple[str, ...]:
    """Return a note about topics in which rules replaced an unusable reply."""
    failed = of.count(lambda topic: topic["failures"])
    note = f"{failed:,} topics with an unusable reply, replaced by rules (`failures` in topics.jsonl)."
    return (note,) if failed else ()


@dataclass(frozen=True, slots=True)
class FindingTopic:
    """A topic, its judged papers, and everything that a search for papers needs."""

    topic: Topic  # of the experiment
    day: date | None  # of the question; newer papers are left out of every list. None if unknown
    judged: JudgedPapers  # its judged papers
    index: OpenedSources  # the index as a source

    @classmethod
    async def of(cls, topic: Topic) -> "FindingTopic":
        """Read the records of the judged papers, from the index or the file of papers."""
        materials, known = topic.materials, topic.materials.own
        if not materials.collapses:
            raise InvalidCall(
                f"the index {materials.index.manifest.name!r} holds passages; papers are found in an index "
                "of papers",
                remedy="index the papers.jsonl of `experiment import`",
            )
        grades = materials.qrels.get(topic.query_id, {})
        index = index_as_source(materials.index.manifest.name, materials.index)
        indexed = await index.sources[0].source.papers(list(grades))
        records = {paper_id: known[paper_id] for paper_id in grades if paper_id in known}
        records |= indexed
        day = materials.lines[topic.query_id].date
        return cls(topic, day, JudgedPapers.of(grades, records, held=indexed), index)

    @property
    def filters(self) -> Filters:
        """The filter of searches in sources: the years of the question, up to its day; none without a day.

        A filter replaces the years that a search for papers reads in the question. The index is searched
        without it, since its papers may have no year.
        """
        if self.day is None:
            return Filters()
        low, high = find_conditions(self.topic.question).years or (None, None)
        return Filters(years=Range(low, self.day.year if high is None else min(high, self.day.year)))

    def ids(self, papers: Iterable[Paper], *, own_id: bool | None = None) -> list[str]:
        """Return the ids of papers in their order: the judged id, else their own.

        Newer papers and further records of a paper are left out. `own_id` states that the papers have the ids
        of the index, as they do by default if the call names no sources.
        """
        own_id = not self.topic.materials.declared if own_id is None else own_id
        return self.judged.known_ids((each for each in papers if not is_after(each, self.day)), own_id=own_id)

    def counts(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the counts of a list of ids."""
        return set_counts(ids, self.judged.relevant)

    def request(self, **options: Any) -> FindRequest:
        """Return the request of a search for the papers of the topic; `options` are fields of it."""
        call = self.topic.call
        without = frozenset(options.pop("without", ())) | (PURE if call.pure else frozenset())
        values = {"papers": call.k, "rounds": call.rounds, "seed": call.seed, **options}
        if self.day:
            values["this_year"] = self.day.year
        return FindRequest(self.topic.question, **values, without=without)

    def searched(self, *, in_index: bool = False) -> OpenedSources:
        """Return the sources of the call; without any, or if `in_index`, the index."""
        places = self.topic.materials.places
        return self.index if in_index or places is None else places.together()

    async def find(self, *, in_index: bool = False, **options: Any) -> FoundPapers:
        """Find the papers of the topic from scratch in the sources of the call, or in the index."""
        materials, opened = self.topic.materials, self.searched(in_index=in_index)
        if opened is not self.index:
            options["filters"] = self.filters
        request = self.request(**options)
        return await find_in_sources(opened, request, materials.settings, model=materials.model)

    def resources(
        self, request: FindRequest, *, in_index: bool = False
    ) -> AbstractAsyncContextManager[FindResources]:
        """Open the resources of the agents, to call one of them alone."""
        settings, model = self.topic.materials.settings, self.topic.materials.model
        return find_resources(self.searched(in_index=in_index), request, settings, model)


async def search_rows(
    topic: FindingTopic, variants: Mapping[str, Options], by_model: Iterable[str] = (), listed: str = "papers"
) -> tuple[TopicResult, dict[str, FindingState]]:
    """Search with each variant; return the result of the topic, and the last state of each search.

    Args:
        topic: the question.
        variants: options of the searches by row.
        by_model: rows that need a language model.
        listed: the list that is scored: `papers`, or the `valid` ones, which have no limit of length.
    """
    rows: dict[str, Record] = {}
    rankings: dict[str, Ranking] = {}
    states: dict[str, FindingState] = {}
    failures: list[str] = []
    for name, options in variants.items():
        if name in by_model and topic.topic.materials.model is None:
            continue
        found = await topic.find(**options)
        valid = (known.paper for _, known in found.state.relevant(THRESHOLD))
        ids = topic.ids(valid if listed == "valid" else (each.known.paper for each in found.papers))
        examined = topic.ids(known.paper for known in found.state.papers.values())
        rows[name] = {**topic.counts(ids), "examined": topic.counts(examined)}
        rankings[name], states[name] = ranking_of(ids), found.state
        failures += failures_of(found.step)
    return result_of(rows, rankings, failures=failures), states


def ranking_of(ids: Sequence[str]) -> Ranking:
    """Return a ranking in the order of the ids, with the score 1 / rank."""
    return as_written([(paper_id, 1 / rank) for rank, paper_id in enumerate(ids, 1)])


def failures_of(step: Step) -> list[str]:
    """Return the errors of model calls whose reply was unusable, so that rules replaced it.

    Raises:
        ModelFailed: the server is unreachable, too slow, or refuses calls, so that the result of the topic
            would be that of the rules.
    """
    errors = []
    for part in step.walk():
        if part.failure is not None:
            if _concerns_all_calls(part.failure):
                raise part.failure
            errors.append(part.error or str(part.failure))
    return errors


def _concerns_all_calls(failure: Exception) -> bool:
    if isinstance(failure, ModelRefusedCall) and not isinstance(failure, ContextExceeded):
        return failure.status >= HTTPStatus.BAD_REQUEST
    return isinstance(failure, CircuitOpen) or (isinstance(failure, ModelFailed) and failure.of_server)
