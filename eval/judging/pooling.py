"""Pooling: the first papers of each method in each place, and of find-papers in all places together.

The places are an index, sources, or both; each is searched separately.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.judging.calls import METHODS, NEAREST, PoolCall
from eval.judging.records import Ranked
from eval.judging.store import Benchmark, adding
from eval.manifest import index_record, model_record, search_record, software, sources_record
from eval.progress import question_bar
from eval.ranking import MOST_FAILURES, OF_A_QUESTION
from eval.run_target import SourcesIndex
from generator.finding.finding import OpenedSources, find_in_sources, index_as_source
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.tracing.steps import error_text
from indexer.corpora.papers import Paper
from indexer.options import chosen_index
from retriever.errors import BadQuestion, SourceFailed
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.methods import method_named
from retriever.search import SearchRequest, rank
from retriever.sources.configuration import SUFFIX, read_declared
from retriever.sources.engine import SourcesEngine
from retriever.sources.gathered import SharedModels, open_declared
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource

FIND = "find-papers"
MOST_FOUND = 500  # papers of find-papers
LONGEST_TEXT = 20_000  # characters of an abstract, or of the beginning of a text without one
# Fields of a record that the merging, the judges and an assessor read.
FIELDS = ("title", "title2", "abstract", "abstract2", "authors", "year", "journal", "doi", "url", "lang")

Papers: TypeAlias = Sequence[tuple[str, Paper]]  # (source, record), best first


@dataclass(frozen=True, slots=True)
class OpenPlaces:
    """The open places: an index, unless only sources are searched, and sources with their models.

    `record` has index and sources for the record of a call.
    """

    index: SearchIndex | None
    sources: Sequence[LimitedSource]
    models: SharedModels
    record: Mapping[str, Any]

    def each(self) -> list[tuple[str, OpenIndex, bool]]:
        """Return name, index, and whether it ranks papers, of each place; the index first."""
        manifest = self.index.manifest if self.index else None
        own = [(manifest.name, self.index, manifest.unit == "paper")] if self.index and manifest else []
        return [*own, *((each.name, SourcesIndex([each], self.models), True) for each in self.sources)]

    def together(self) -> OpenedSources:
        """Return all places as sources for one question of find-papers."""
        of_index = index_as_source(self.index.manifest.name, self.index) if self.index else OpenedSources([])
        limited = [replace(each, silent=False, failed="") for each in self.sources]
        glossary = None if limited else of_index.glossary
        return OpenedSources([*of_index.sources, *limited], glossary, self.models)


@asynccontextmanager
async def open_places(name: str, sources: Sequence[str], settings: Settings) -> AsyncIterator[OpenPlaces]:
    """Open an index, unless the name is "", and sources; the version of the index stays the same.

    Raises as `open_index`, `read_declared` and `open_declared`; InvalidCall if a source has the name of the
    index.
    """
    declared = read_declared(sources)
    if name in {each.name for each in declared}:
        raise InvalidCall(f"a source has the name of the index, {name!r}", remedy="name only one of them")
    async with AsyncExitStack() as opened:
        synonyms = settings.retriever.synonyms
        models = opened.enter_context(closing(SharedModels(settings.indexer, synonyms)))
        index = None
        record: dict[str, Any] = {}
        if name:
            index = await asyncio.to_thread(open_index, settings.indexer, name, synonyms, follow=False)
            opened.push_async_callback(asyncio.to_thread, index.close)
            record["index"] = index_record(index.manifest)
        limited = await opened.enter_async_context(open_declared(declared, settings.indexer))
        if limited:
            record["sources"] = sources_record(declared, limited)["sources"]
        yield OpenPlaces(index, limited, models, record)


def pool_papers(path: Path, call: PoolCall) -> list[str]:
    """Pool the papers of all selected questions; return the rankings that failed.

    Raises:
        BadBenchmark, DamagedFile, FileBusy: the folder.
        InvalidCall: no question is selected, or the pool has papers of other places: their ids and merges
            would differ.
        ResourceError: as `open_places`.
        BadFilter: no such method.
    """
    settings = Settings.from_environment()
    with adding(path) as benchmark:
        if not benchmark.selected:
            raise InvalidCall(f"{path} has no selected question", remedy="select derived ones, or add seeds")
        only_sources = call.sources and call.index is None
        name = "" if only_sources else chosen_index(call.index, settings.indexer)
        # A file is found from any folder.
        sources = [str(Path(each).resolve()) if each.endswith(SUFFIX) else each for each in call.sources]
        known = benchmark.pooled_from["places"]
        if known and known != [name] * bool(name) + [each.name for each in read_declared(sources)]:
            raise InvalidCall(
                f"the pool of {path} has papers of {', '.join(known)}",
                remedy=("name the same index and sources", "start a new folder"),
            )
        return asyncio.run(_pool(benchmark, name, sources, call, settings))


async def _pool(
    benchmark: Benchmark, name: str, sources: Sequence[str], call: PoolCall, settings: Settings
) -> list[str]:
    async with AsyncExitStack() as opened:
        places = await opened.enter_async_context(open_places(name, sources, settings))
        model = None
        if call.find and call.model:
            model = await opened.enter_async_context(settings.language_model())
        has_vectors = places.index is not None and places.index.vectors.usable
        methods = call.method or (METHODS + (NEAREST,) * has_vectors)
        rankings = _rankings(places, methods, call.depth, settings)
        if call.find:
            found_with = settings if model else settings.with_llm(base_url=None)
            rankings.append(_found_by_agents(places, call.depth, found_with, model))
        if not any(_missing(benchmark.rankings.get(each, ()), rankings) for each in benchmark.selected):
            return []
        named = [each for each, *_ in places.each()]
        options = {"index": name, "method": list(methods), "sources": sources, "places": named}
        made_with = {**places.record, **software(models=False), **search_record(settings)}
        if model:
            made_with |= model_record(model.settings, ())
        record = benchmark.next_call("pool", {**call.model_dump(mode="json"), **options}, made_with)
        benchmark.append(record)
        return await _search_all(benchmark, rankings, record.number)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking to pool: place, method and depth, and the search for a question: papers, and notes."""

    place: str
    method: str
    depth: int
    search: Callable[[str], Awaitable[tuple[Papers, tuple[str, ...]]]]


async def _search_all(benchmark: Benchmark, rankings: Sequence[Ranking], call: int) -> list[str]:
    """Add the missing rankings of selected questions; return a line for each failed one.

    Raises:
        Exception: of the last ranking if `MOST_FAILURES` in a row failed, or an error that affects all.
    """
    failed: list[str] = []
    in_a_row = 0
    with question_bar() as progress:
        for done, (query_id, question) in enumerate(benchmark.selected.items()):
            progress("questions", done, len(benchmark.selected))
            pooled = benchmark.rankings.get(query_id, ())
            known = {paper for each in pooled for paper in each.ranked}
            for ranking in _missing(pooled, rankings):
                try:
                    papers, notes = await ranking.search(question)
                    in_a_row = 0
                except BadQuestion as error:
                    papers, notes = (), (str(error).splitlines()[0],)
                except OF_A_QUESTION as error:
                    in_a_row += 1
                    if in_a_row == MOST_FAILURES:
                        raise
                    where = f"{query_id}, {ranking.method} in {ranking.place}"
                    failed.append(f"{where}: {one_line(error_text(error))}")
                    continue
                ids = tuple((source, paper.id) for source, paper in papers)
                new = tuple(
                    (source, _short(paper)) for source, paper in papers if (source, paper.id) not in known
                )
                place, method, depth = ranking.place, ranking.method, ranking.depth
                benchmark.append(Ranked(query_id, place, method, depth, ids, new, call, tuple(notes)))
                known.update(ids)
    return failed


def _missing(pooled: Sequence[Ranked], rankings: Sequence[Ranking]) -> list[Ranking]:
    """Return the rankings that a question lacks, or has with a smaller depth that cut them."""
    depths = {
        (each.place, each.method): each.depth if len(each.ranked) >= each.depth else 0 for each in pooled
    }
    return [
        each
        for each in rankings
        if (known := depths.get((each.place, each.method))) is None or 0 < known < each.depth
    ]


def _rankings(places: OpenPlaces, methods: Sequence[str], depth: int, settings: Settings) -> list[Ranking]:
    for name in methods:
        if method_named(name).is_expression:
            raise InvalidCall(f"method {name!r} reads expressions, not questions", remedy="leave it out")
    return [
        _ranking(name, index, SearchRequest("", method=method, k=depth, collapse=of_papers), settings)
        for name, index, of_papers in places.each()
        for method in methods
    ]


def _ranking(name: str, index: OpenIndex, request: SearchRequest, settings: Settings) -> Ranking:
    """Return a ranking whose search raises SourceFailed if a model failed, so that it is incomplete."""

    async def search(question: str) -> tuple[Papers, tuple[str, ...]]:
        async def of_version(version: SearchIndex) -> tuple[Papers, tuple[str, ...]]:
            ranked = await rank(version, replace(request, question=question), settings.retriever)
            if ranked.applied.failures:
                raise SourceFailed("; ".join(ranked.applied.failures))
            ids = [paper_id for paper_id, _ in ranked.hits]
            # Passages have records too, if the index holds passages without papers.
            if isinstance(version.engine, SourcesEngine):
                papers = {each: found.paper for each, found in version.engine.found.items()}
            else:
                records = await IndexSource(name, version).papers(ids)
                papers = {each: found.paper for each, found in records.items()}
            return [(name, papers[each]) for each in ids if each in papers], ()

        return await index.ask(of_version)

    return Ranking(name, request.method, request.k, search)


def _found_by_agents(
    places: OpenPlaces, depth: int, settings: Settings, model: LanguageModel | None
) -> Ranking:
    """Return the ranking of find-papers in all places together: its list, then the other papers judged."""

    async def search(question: str) -> tuple[Papers, tuple[str, ...]]:
        request = FindRequest(question, papers=min(depth, MOST_FOUND))
        found = await find_in_sources(places.together(), request, settings, model=model)
        if failed := [step.failure for step in found.step.walk() if step.failure]:
            raise failed[0]
        ids = dict.fromkeys(ranked.paper_id for ranked in found.papers)
        ids |= dict.fromkeys(paper_id for paper_id, _ in found.state.relevant(0))
        merged = (found.state.papers[paper_id].merged for paper_id in ids)
        papers = [
            (source, each.paper.model_copy(update={"id": paper_id}))
            for each in merged
            for source, paper_id in each.ids[:1]
        ]
        return papers[:depth], found.notes

    return Ranking(",".join(name for name, *_ in places.each()), FIND, depth, search)


def _short(paper: Paper) -> Paper:
    """Return the record without the fields that nothing reads; a text replaces a missing abstract."""
    values = {name: getattr(paper, name) for name in FIELDS if getattr(paper, name)}
    text = paper.abstract or paper.body
    values |= {"abstract": text[:LONGEST_TEXT]} if text else {}
    return Paper(id=paper.id, **values)
