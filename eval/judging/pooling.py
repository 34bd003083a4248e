"""Pooling: the first papers of each method in each place, and of find-papers in all places together.

The places are an index, sources, or both; each is searched separately.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
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

Found: TypeAlias = Sequence[tuple[str, Paper]]  # source and record, best first
Searches: TypeAlias = dict[tuple[str, str], Callable[[str], Awaitable[Found]]]  # by place and method


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
        if unusable := [method for method in methods if method_named(method).is_expression]:
            raise InvalidCall(
                f"method {unusable[0]!r} reads expressions, not questions", remedy="leave it out"
            )
        searches: Searches = {}
        for place, index, unit in places.each():
            for method in methods:
                request = SearchRequest("", method, call.depth, collapse=unit == "paper")
                searches[place, method] = _search(place, index, request, settings)
        if call.find:
            everywhere = ",".join(place for place, *_ in places.each())
            searches[everywhere, FIND] = _search_by_agents(places, call.depth, settings, model)
        waiting = {
            (query_id, *key): search
            for query_id in benchmark.selected
            for key, search in searches.items()
            if _is_missing(benchmark.rankings.get(query_id, ()), key, call.depth)
        }
        if not waiting:
            return []
        named = [place for place, *_ in places.each()]
        options = {"index": name, "method": list(methods), "sources": sources, "places": named}
        made_with: dict[str, Any] = {**software(models=False), **search_record(settings)}
        made_with |= sources_record(places.declared, places.sources)
        if places.index:
            made_with["index"] = index_record(places.index.manifest)
        if model:
            made_with |= model_record(model.settings, ())
        record = benchmark.next_call("pool", {**call.model_dump(mode="json"), **options}, made_with)
        benchmark.append(record)

        async def pool(key: tuple[str, str, str], search: Callable[[str], Awaitable[Found]]) -> None:
            query_id, place, method = key
            try:
                papers = await search(benchmark.selected[query_id])
            except BadQuestion:
                papers = ()
            short = tuple((source, _short(paper)) for source, paper in papers)
            benchmark.append(Ranked(query_id, place, method, call.depth, short, record.number))

        total = len(benchmark.selected) * len(searches)
        with question_bar() as progress:
            failed = await work_through(waiting, pool, total=total, progress=progress)
    return [
        f"{query_id}, {method} in {place}: {one_line(error_text(error))}"
        for (query_id, place, method), error in failed.items()
    ]


def _is_missing(pooled: Sequence[Ranked], key: tuple[str, str], depth: int) -> bool:
    """Check whether a question lacks a ranking, or has it with a smaller depth that cut it."""
    known = [each for each in pooled if (each.place, each.method) == key]
    return not known or len(known[-1].papers) >= known[-1].depth < depth


def _search(
    name: str, index: OpenIndex, request: SearchRequest, settings: Settings
) -> Callable[[str], Awaitable[Found]]:
    """Return a search that raises SourceFailed if a model failed, so that its ranking is incomplete."""

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
            return [(name, found[each]) for each in ids if each in found]

        return await index.ask(of_version)

    return search


def _search_by_agents(
    places: Places, depth: int, settings: Settings, model: LanguageModel | None
) -> Callable[[str], Awaitable[Found]]:
    """Return the search of find-papers in all places together: its list, then the other papers judged."""
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
        return [(source, paper.model_copy(update={"id": own})) for (source, own), paper in papers]

    return search


def _short(paper: Paper) -> Paper:
    """Return the record without the parts that nothing reads; a text replaces a missing abstract."""
    text = (paper.abstract or paper.body)[:LONGEST_TEXT]
    return paper.model_copy(update={"abstract": text, "body": "", "references": []})
