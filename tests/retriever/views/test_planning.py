"""The strategy and the queries of a search, shown before it runs."""

import pytest

from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from retriever.views.planning import plan_search
from tests.retriever.made_papers import opened


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


def planned(index, question, upto="plan", **request):
    asked = plan_search(index, SearchRequest(question, **request), RetrieverSettings(), upto=upto)
    return asked.as_record()


def test_a_plan_shows_the_strategy_and_the_queries(index):
    record = planned(index, "환각 -quokka")
    assert (record["strategy"]["ko"], record["strategy"]["en"]) == (["환각"], ["hallucination"])
    assert (record["strategy"]["exclude"], record["strategy"]["origin"]) == ([{"en": "quokka"}], "statistics")
    assert [query["name"] for query in record["queries"]] == ["question", "SQ2", "SQ1"]


def test_a_given_strategy_is_planned(index):
    strategy = Strategy.of_person(["hallucination", "환각"])
    record = planned(index, "무엇이 줄어드는가?", "terms", strategy=strategy)
    assert record["strategy"] == strategy.as_record()
    assert sorted(word["text"] for word in record["keywords"]) == ["hallucination", "환각"]
    assert "queries" not in record


def test_a_method_without_a_strategy_shows_none(index):
    assert planned(index, "환각", method="or")["strategy"] is None
