"""A search stopped between its stages, changed, and gone on with; a method or a source more."""

import asyncio

import pytest

import retriever.methods
from retriever.engines import EngineHit
from retriever.methods import method_named, method_names
from retriever.methods.shrag import TITLE_WEIGHT
from retriever.queries.keywords import Keyword
from retriever.search import SearchRequest, Stages, open_search, present, run_stages, search
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, ids, opened

QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"
SETTINGS = RetrieverSettings()

LONGEST_FIRST = '''
"""Passages of one OR query, those with the longest title first."""

from retriever.methods import Method, or_
from retriever.stages.stages import Ranking


async def rank(context, question, chosen, planned, pool):
    ranking = await or_.rank(context, question, chosen, planned, pool)
    stored = await context.passages.of_hits([hit for hit, _ in ranking.hits])
    lengths = [(hit, float(len(stored[hit.passage_id].title))) for hit, _ in ranking.hits]
    return Ranking(tuple(sorted(lengths, key=lambda ranked: -ranked[1])))


METHOD = Method(plan=or_.plan, rank=rank, order="length of the title")
'''


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


def begun(index, upto, question=QUESTION, **request):
    context = open_search(index, SearchRequest(question, **request), SETTINGS)
    return context, asyncio.run(run_stages(context, upto=upto))


def finished(context, stages: Stages):
    async def finish():
        return await present(context, await run_stages(context, stages))

    return asyncio.run(finish())


def test_a_search_run_stage_by_stage_gives_what_it_gives_at_once(index):
    context, stages = begun(index, "question")
    for stage in ("keywords", "plan", "pool", "ranking"):
        stages = asyncio.run(run_stages(context, stages, upto=stage))

    by_stages = asyncio.run(present(context, stages)).as_record()
    at_once = asyncio.run(search(index, SearchRequest(QUESTION), SETTINGS)).as_record()

    assert by_stages | {"milliseconds": {}} == at_once | {"milliseconds": {}}


def test_a_stage_computes_nothing_beyond_it(index):
    _, stages = begun(index, "plan")

    assert stages.plan is not None
    assert (stages.pool, stages.ranking) == (None, None)


def test_keywords_that_a_person_edits_make_the_queries(index):
    context, stages = begun(index, "keywords", method="paper")
    edited = stages.keywords.with_keywords([Keyword("pangolin", "en", ("pangolin",))])

    result = finished(context, stages.with_keywords(edited))

    assert [query.query for query in result.queries] == ["pangolin"]
    assert {hit.passage_id for hit in result.hits} == {"TITLED", "TEXTUAL"}
    assert result.applied.keyword_source == "given"


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
        context, stages.with_pool(stages.pool.with_hits("toy", [EngineHit("SEGMENT", "SEGMENT", 1.0)]))
    )

    [hit] = [hit for hit in result.hits if hit.passage_id == "SEGMENT"]
    assert hit.found_by == ("toy",)


def test_a_file_that_begins_with_an_underscore_is_no_method(tmp_path, monkeypatch):
    (tmp_path / "_shared_by_methods.py").touch()
    named = method_names()
    monkeypatch.setattr(retriever.methods, "__path__", [*retriever.methods.__path__, str(tmp_path)])

    assert method_names() == named


def test_a_new_method_is_one_new_file(index, tmp_path, monkeypatch):
    (tmp_path / "longest_first.py").write_text(LONGEST_FIRST, encoding="utf-8")
    monkeypatch.setattr(retriever.methods, "__path__", [*retriever.methods.__path__, str(tmp_path)])

    result = found(index, "axolotl pangolin quokka", "longest_first")

    assert "longest_first" in method_names()
    assert result.applied.order == "length of the title"
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    method_named.cache_clear()


def test_what_took_effect_is_told_and_not_what_was_set(index):
    settings = SETTINGS.model_copy(update={"title_weight": 9.0})
    results = [
        found(index, "axolotl", title_weight=0.0),
        found(index, "axolotl", settings=settings),
        found(index, "axolotl", "paper", settings),
    ]

    assert [result.applied.title_weight for result in results] == [0.0, TITLE_WEIGHT, None]


def test_a_search_gone_on_with_tells_the_queries_of_its_last_plan(index):
    context, stages = begun(index, "ranking")
    first = asyncio.run(present(context, stages))
    kept = dict(first.milliseconds)

    second = finished(context, stages.with_plan(stages.plan.without("SQ1")))

    assert len(second.queries) == len(first.queries) - 1
    assert first.milliseconds == kept


def test_what_settings_change_stands_in_what_took_effect(index):
    settings = SETTINGS.model_copy(update={"keywords": 3, "hits_per_query": 2})

    result = found(index, QUESTION, "paper", settings)

    assert (result.applied.keyword_count, result.applied.hits_per_query) == (3, 2)
    assert [query.name for query in result.queries] == ["SQ3", "SQ2", "SQ1"]
    assert max(query.hits for query in result.queries) <= 2


@pytest.mark.parametrize("method", ["or", "paper", "shrag"])
def test_hits_of_passages_that_are_not_there_are_left_out(index, method):
    context, stages = begun(index, "pool", method=method)

    result = finished(
        context, stages.with_pool(stages.pool.with_hits("toy", [EngineHit("GHOST", "GHOST", 9.0)]))
    )

    assert result.hits
    assert "GHOST" not in {hit.passage_id for hit in result.hits}
