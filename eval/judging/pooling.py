"""Pooling: the first papers of each method in each place, and of find-papers in all places together.

The places are an index, sources, or both; each is searched separately.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.judging.benchmark import Benchmark, Ranked, adding
from eval.judging.calls import METHODS, NEAREST, PoolCall
from eval.manifest import index_record, model_record, search_record, software, sources_record
from eval.places import Places, open_places
from eval.progress import question_bar
from eval.ranking import MOST_FAILURES, OF_A_QUESTION
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.tracing import error_text
from indexer.corpora.papers import Paper
from indexer.options import chosen_index
from retriever.errors import BadQuestion, SourceFailed
from retriever.index import OpenIndex, SearchIndex
from retriever.methods import method_named
from retriever.search import SearchRequest, rank
from retriever.sources.configuration import SUFFIX, read_declared
from retriever.sources.engine import SourcesEngine
from retriever.sources.kinds.index import IndexSource

FIND = "find-papers"
MOST_FOUND = 500  # papers of find-papers
LONGEST_TEXT = 20_000  # characters of an abstract, or of the beginning of a text without one
# Fields of a record that the merging, the judges and an assessor read.
FIELDS = ("title", "title2", "abstract", "abstract2", "authors", "year", "journal", "doi", "url", "lang")

Found: TypeAlias = tuple[Sequence[tuple[str, Paper]], tuple[str, ...]]  # (source, record) best first; notes


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking to pool: place, method and depth, and the search for a question."""

    place: str
    method: str
    depth: int
    search: Callable[[str], Awaitable[Found]]


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
                place, method, depth = ranking.place, ranking.method, ranking.depth
                try:
                    papers, notes = await ranking.search(question)
                    in_a_row = 0
                except BadQuestion as error:
                    papers, notes = (), (str(error).splitlines()[0],)
                except OF_A_QUESTION as error:
                    in_a_row += 1
                    if in_a_row == MOST_FAILURES:
                        raise
                    failed.append(f"{query_id}, {method} in {place}: {one_line(error_text(error))}")
                    continue
                ids = tuple((source, paper.id) for source, paper in papers)
                new = tuple(
                    (source, _short(paper)) for source, paper in papers if (source, paper.id) not in known
                )
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


def _ranking(name: str, index: OpenIndex, request: SearchRequest, settings: Settings) -> Ranking:
    """Return a ranking whose search raises SourceFailed if a model failed, so that it is incomplete."""

    async def search(question: str) -> Found:
        async def of_version(version: SearchIndex) -> Found:
            ranked = await rank(version, replace(request, question=question), settings.retriever)
            if ranked.applied.failures:
                raise SourceFailed("; ".join(ranked.applied.failures))
            ids = [paper_id for paper_id, _ in ranked.hits]
            # Passages have records too, if the index holds passages without papers.
            found: Mapping[str, Any]
            if isinstance(version.engine, SourcesEngine):
                found = version.engine.found
            else:
                found = await IndexSource(name, version).papers(ids)
            return [(name, found[each].paper) for each in ids if each in found], ()

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
        return list(first_records(found.state.papers[each].merged for each in ids))[:depth], found.notes

    def first_records(papers: Iterator[Any]) -> Iterator[tuple[str, Paper]]:
        for each in papers:
            for source, paper_id in each.ids[:1]:
                yield source, each.paper.model_copy(update={"id": paper_id})

    return Ranking(",".join(name for name, *_ in places.each()), FIND, depth, search)


def _short(paper: Paper) -> Paper:
    """Return the record without the fields that nothing reads; a text replaces a missing abstract."""
    values = {name: getattr(paper, name) for name in FIELDS if getattr(paper, name)}
    text = paper.abstract or paper.body
    values |= {"abstract": text[:LONGEST_TEXT]} if text else {}
    return Paper(id=paper.id, **values)
