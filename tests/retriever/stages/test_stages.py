"""A search stopped between its stages, changed, and continued; its plan as it is shown."""

import asyncio

from retriever.search import SearchRequest, open_search, present, run_stages, search
from retriever.settings import RetrieverSettings
from retriever.views.planning import plan_search

QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"
SETTINGS = RetrieverSettings()


def begun(index, upto, question=QUESTION, **request):
    context = open_search(index, SearchRequest(question, **request), SETTINGS)
    return context, run_stages(context, upto=upto)


def test_a_search_run_stage_by_stage_gives_what_it_gives_at_once(index):
    context, stages = begun(index, "question")
    for stage in ("terms", "plan", "pool", "ranking"):
        stages = run_stages(context, stages, upto=stage)

    by_stages = present(context, stages).as_record()
    at_once = asyncio.run(search(index, SearchRequest(QUESTION), SETTINGS)).as_record()

    assert by_stages | {"milliseconds": {}} == at_once | {"milliseconds": {}}


def planned(index, question, upto="plan", **request):
    asked = plan_search(index, SearchRequest(question, **request), RetrieverSettings(), upto=upto)
    return asked.as_record()


def test_a_plan_shows_the_strategy_and_the_queries(index):
    record = planned(index, "환각 -quokka")
    assert (record["strategy"]["ko"], record["strategy"]["en"]) == (["환각"], ["hallucination"])
    assert (record["strategy"]["exclude"], record["strategy"]["origin"]) == ([{"en": "quokka"}], "statistics")
    assert [query["name"] for query in record["queries"]] == ["question", "SQ2", "SQ1"]


def test_a_method_without_a_strategy_shows_none(index):
    assert planned(index, "환각", method="or")["strategy"] is None
