"""The step `pool`: papers of all rankings, added to the folder."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from base.errors import InvalidCall
from base.journal import Append
from eval.judging.automatic import model_of
from eval.judging.calls import RULES, PoolCall
from eval.judging.folder import CALLS, POOL, writing
from eval.judging.inputs import model_record, search_record
from eval.judging.places import open_places
from eval.judging.pooling import FailedRanking, found_by_agents, missing, pool, rankings_of, usual_methods
from eval.judging.records import CallRecord, Ranked
from eval.judging.state import Benchmark, next_call
from eval.manifest import software
from eval.progress import question_bar
from generator.pipeline import Settings
from indexer.options import chosen_index
from retriever.sources.configuration import SUFFIX, read_declared


def pool_papers(path: Path, call: PoolCall) -> list[str]:
    """Pool the papers of all selected questions; return the rankings that failed.

    Raises:
        BadBenchmark, FileBusy: the folder.
        InvalidCall: no question is selected, or the pool has papers of other places.
        ResourceError: as `open_places`.
    """
    settings = Settings.from_environment()
    with writing(path, CALLS, POOL) as (append_call, append):
        benchmark = Benchmark(path)
        if not benchmark.selected:
            raise InvalidCall(f"{path} has no selected question", remedy="select derived ones, or add seeds")
        only_sources = call.sources and call.index is None
        name = "" if only_sources else chosen_index(call.index, settings.indexer)
        # A file is found from any folder.
        sources = [str(Path(each).resolve()) if each.endswith(SUFFIX) else each for each in call.sources]
        _check_places(benchmark, [name] * bool(name) + [each.name for each in read_declared(sources)])
        return asyncio.run(_pooled(benchmark, name, sources, call, settings, append_call, append))


def _check_places(benchmark: Benchmark, places: Sequence[str]) -> None:
    """Raise InvalidCall if papers of other places are pooled: their ids and merges would differ."""
    if benchmark.places and list(benchmark.places) != list(places):
        raise InvalidCall(
            f"the pool of {benchmark.path} has papers of {', '.join(benchmark.places)}",
            remedy=("name the same index and sources", "start a new folder"),
        )


async def _pooled(
    benchmark: Benchmark,
    name: str,
    sources: Sequence[str],
    call: PoolCall,
    settings: Settings,
    append_call: Append[CallRecord],
    append: Append[Ranked],
) -> list[str]:
    failed: list[str] = []
    uses_model = call.find and call.model
    async with (
        open_places(name, sources, settings) as places,
        model_of(settings, "brief" if uses_model else RULES) as model,
    ):
        methods = call.method or usual_methods(places)
        rankings = rankings_of(places, methods, call.depth, settings)
        if call.find:
            found_with = settings if model else settings.with_llm(base_url=None)
            rankings.append(found_by_agents(places, call.depth, found_with, model))
        if not any(missing(benchmark.rankings.get(each, ()), rankings) for each in benchmark.selected):
            return failed
        options = {
            **call.model_dump(mode="json"),
            "index": name,
            "method": list(methods),
            "sources": sources,
            "places": [place.name for place in places.places],
        }
        made_with = {**places.record, **software(models=False), **search_record(settings)}
        if model:
            made_with |= model_record(model.settings, {})
        record = next_call(benchmark, "pool", options, made_with)
        append_call(record)
        with question_bar() as progress:
            async for made in pool(benchmark, rankings, record.number, progress):
                if isinstance(made, FailedRanking):
                    ranking = made.ranking
                    failed.append(f"{made.query_id}, {ranking.method} in {ranking.place}: {made.reason}")
                else:
                    append(made)
    return failed
