"""A search stopped between its stages, changed, and continued."""

import asyncio
from dataclasses import replace

import pytest

from retriever.engines import EngineHit
from retriever.search import SearchRequest, Stages, open_search, present, run_stages, search
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.retriever.made_papers import found, ids, opened

QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"
SETTINGS = RetrieverSettings()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


def begun(index, upto, question=QUESTION, **request):
    context = open_search(index, SearchRequest(question, **request), SETTINGS)
    return context, run_stages(context, upto=upto)


def finished(context, stages: Stages):
    return present(context, run_stages(context, stages))


def with_toy(stages, hits):
    """Return the stages with hits of a source that is no query."""
    found = {**stages.pool.found, "toy": tuple(hits)}
    return replace(stages, ranking=None, pool=replace(stages.pool, found=found))


def test_a_search_run_stage_by_stage_gives_what_it_gives_at_once(index):
    context, stages = begun(index, "question")
    for stage in ("terms", "plan", "pool", "ranking"):
        stages = run_stages(context, stages, upto=stage)

    by_stages = present(context, stages).as_record()
    at_once = asyncio.run(search(index, SearchRequest(QUESTION), SETTINGS)).as_record()

    assert by_stages | {"milliseconds": {}} == at_once | {"milliseconds": {}}


def test_a_strategy_that_a_person_edits_makes_the_queries(index):
    context, stages = begun(index, "terms", method="paper")
    edited = stages.terms.strategy.with_keywords(["pangolin"])

    result = finished(replace(context, request=replace(context.request, strategy=edited)), Stages())

    assert [query.query for query in result.queries] == ["pangolin"]
    assert {hit.passage_id for hit in result.hits} == {"TITLED", "TEXTUAL"}
    assert (result.applied.strategist, result.strategy) == (
        "person",
        Strategy(en=("pangolin",), origin="person"),
    )


def test_a_query_that_is_dropped_is_not_sent(index):
    context, stages = begun(index, "plan")

    result = finished(context, stages.with_plan(stages.plan.without("SQ1", "question")))

    names = [query.name for query in result.queries]
    assert "SQ2" in names
    assert not {"SQ1", "question"} & set(names)


def test_hits_of_another_source_join_the_candidates_under_its_name(index):
    """A source is whatever gives hits: here one that knows a paper which no query finds."""
    context, stages = begun(index, "pool")
    assert "SEGMENT" not in ids(index, QUESTION)

    result = finished(
        context,
        with_toy(stages, [EngineHit("SEGMENT", "SEGMENT", 1.0)]),
    )

    [hit] = [hit for hit in result.hits if hit.passage_id == "SEGMENT"]
    assert hit.found_by == ("toy",)


def test_what_took_effect_is_told_and_not_what_was_set(index):
    settings = SETTINGS.model_copy(update={"title_weight": 9.0})
    results = [
        found(index, "axolotl", "or", title_weight=0.0),
        found(index, "axolotl", "or", settings),
        found(index, "axolotl", "paper", settings),
    ]

    assert [result.applied.title_weight for result in results] == [0.0, 9.0, None]


@pytest.mark.parametrize("method", ["or", "paper", "shrag"])
def test_hits_of_passages_that_are_not_there_are_left_out(index, method):
    context, stages = begun(index, "pool", method=method)

    result = finished(
        context,
        with_toy(stages, [EngineHit("GHOST", "GHOST", 9.0)]),
    )

    assert result.hits
    assert "GHOST" not in {hit.passage_id for hit in result.hits}
