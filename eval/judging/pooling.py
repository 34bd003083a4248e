"""Pooling: the first papers of each method in each place, and of find-papers in all places together.

The places are an index, sources, or both; each is searched separately.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from base.calls import Call
from base.errors import InvalidCall
from base.untrusted import one_line
from eval.experiments.materials import SEARCHING, option
from eval.judging.benchmark import Benchmark, Ranked, adding
from eval.manifest import index_record, model_record, search_record, software, sources_record
from eval.places import Places, open_places
from eval.progress import question_bar, work_through
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.tracing import error_text
from indexer.corpora.papers import Paper
from indexer.options import chosen_index
from retriever.calls import IndexName, SourceNames
from retriever.errors import BadQuestion, SourceFailed
from retriever.index import OpenIndex, SearchIndex
from retriever.methods import method_named
from retriever.search import SearchRequest, rank
from retriever.sources.configuration import SUFFIX, read_declared
from retriever.sources.engine import SourcesEngine
from retriever.sources.kinds.index import IndexSource

METHODS = ("shrag", "or", "paper")  # by default
NEAREST = "dense"  # a default, too, if the index has vectors
FIND = "find-papers"
MOST_FOUND = 500  # papers of find-papers
LONGEST_TEXT = 20_000  # characters of an abstract, or of the beginning of a text without one

Found: TypeAlias = tuple[Sequence[tuple[str, Paper]], tuple[str, ...]]  # (source, record) best first; notes


class PoolCall(Call):
    """Options of `pool`."""

    index: IndexName = None
    sources: Annotated[
        SourceNames,
        Field(description="Sources to search too, each separately; without --name, no index is searched."),
    ] = ()
    method: tuple[str, ...] = option(
        f"Methods to pool. Default: {', '.join(METHODS)}; {NEAREST} if the index has vectors.",
        (),
        replace(SEARCHING, metavar="METHOD", commas=True),
    )
    find: bool = option(
        "Pool the papers of find-papers too, in index and sources together.", default=False, flag=SEARCHING
    )
    model: bool = option("Let find-papers use the configured language model.", default=False, flag=SEARCHING)
    depth: int = option("Pool depth: papers of each method, place and question.", 50, ge=1, le=1000)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking to pool: place, method and depth, and the search for a question."""

    place: str
    method: str
    depth: int
    search: Callable[[str], Awaitable[Found]]


def pool_papers(path: Path, call: PoolCall) -> list[str]:
    """Pool the papers of all selected questions; return the rankings that failed."""
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
        for method in methods:
            if method_named(method).is_expression:
                reads = f"method {method!r} reads expressions, not questions"
                raise InvalidCall(reads, remedy="leave it out")
        rankings = [
            _ranking(place, index, SearchRequest("", method, call.depth, collapse=unit == "paper"), settings)
            for place, index, unit in places.each()
            for method in methods
        ]
        if call.find:
            rankings.append(_found_by_agents(places, call.depth, settings, model))
        if not any(_missing(benchmark.rankings.get(each, ()), rankings) for each in benchmark.selected):
            return []
        named = [place for place, *_ in places.each()]
        options = {"index": name, "method": list(methods), "sources": sources, "places": named}
        made_with: dict[str, Any] = {**software(models=False), **search_record(settings)}
        if places.index:
            made_with["index"] = index_record(places.index.manifest)
        if places.sources:
            made_with["sources"] = sources_record(places.declared, places.sources)["sources"]
        if model:
            made_with |= model_record(model.settings, ())
        record = benchmark.next_call("pool", {**call.model_dump(mode="json"), **options}, made_with)
        benchmark.append(record)
        return await _search_all(benchmark, rankings, record.number)


async def _search_all(benchmark: Benchmark, rankings: Sequence[Ranking], call: int) -> list[str]:
    """Add the missing rankings of selected questions; return a line for each failed one."""
    pooled = {query_id: benchmark.rankings.get(query_id, ()) for query_id in benchmark.selected}
    waiting = {
        (query_id, f"{each.method} in {each.place}"): each
        for query_id, of in pooled.items()
        for each in _missing(of, rankings)
    }

    async def pool(key: tuple[str, str], ranking: Ranking) -> None:
        query_id = key[0]
        try:
            papers, notes = await ranking.search(benchmark.selected[query_id])
        except BadQuestion as error:
            papers, notes = (), (str(error).splitlines()[0],)
        short = tuple((source, _short(paper)) for source, paper in papers)
        place, method, depth = ranking.place, ranking.method, ranking.depth
        benchmark.append(Ranked(query_id, place, method, depth, short, call, tuple(notes)))

    total = len(pooled) * len(rankings)
    with question_bar() as progress:
        failed = await work_through(waiting, pool, total=total, progress=progress)
    return [f"{', '.join(key)}: {one_line(error_text(error))}" for key, error in failed.items()]


def _missing(pooled: Sequence[Ranked], rankings: Sequence[Ranking]) -> list[Ranking]:
    """Return the rankings that a question lacks, or has with a smaller depth that cut them."""
    depths = {
        (each.place, each.method): each.depth if len(each.papers) >= each.depth else 0 for each in pooled
    }
    return [
        each
        for each in rankings
        if (known := depths.get((each.place, each.method))) is None or 0 < known < each.depth
    ]


def _ranking(name: str, index: OpenIndex, request: SearchRequest, settings: Settings) -> Ranking:
    """Return a ranking whose search raises SourceFailed if a model failed, so that it is incomplete."""

    async def search(question: str) -> Found:
        async def of_version(version: SearchIndex) -> Found:
            ranked = await rank(version, replace(request, question=question), settings.retriever)
            if ranked.applied.failures:
                raise SourceFailed("; ".join(ranked.applied.failures))
            ids = [paper_id for paper_id, _ in ranked.hits]
            # Passages have records too, if the index holds passages without papers.
            if isinstance(version.engine, SourcesEngine):
                found = {each: merged.paper for each, merged in version.engine.found.items()}
            else:
                found = await IndexSource(name, version).papers(ids)
            return [(name, found[each]) for each in ids if each in found], ()

        return await index.ask(of_version)

    return Ranking(name, request.method, request.k, search)


def _found_by_agents(places: Places, depth: int, settings: Settings, model: LanguageModel | None) -> Ranking:
    """Return the ranking of find-papers in all places together: its list, then the other papers judged."""
    settings = settings if model else settings.with_llm(base_url=None)

    async def search(question: str) -> Found:
        request = FindRequest(question, papers=min(depth, MOST_FOUND))
        found = await find_in_sources(places.together(), request, settings, model=model)
        if failed := [step.failure for step in found.step.walk() if step.failure]:
            raise failed[0]
        ids = dict.fromkeys(ranked.paper_id for ranked in found.papers)
        ids |= dict.fromkeys(paper_id for paper_id, _ in found.state.relevant(0))
        merged = (found.state.papers[each].merged for each in ids)
        papers = [(each.ids[0], each.paper) for each in merged if each.ids][:depth]
        records = [(source, paper.model_copy(update={"id": own})) for (source, own), paper in papers]
        return records, found.notes

    return Ranking(",".join(name for name, *_ in places.each()), FIND, depth, search)


def _short(paper: Paper) -> Paper:
    """Return the record without the parts that nothing reads; a text replaces a missing abstract."""
    text = (paper.abstract or paper.body)[:LONGEST_TEXT]
    return paper.model_copy(update={"abstract": text, "body": "", "references": []})
