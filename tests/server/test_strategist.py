"""The strategist of a search over HTTP and MCP: the server's model, statistics in its place, or an agent."""

import json

import pytest

from tests.generator.language_model import answers_with, events, streams_out
from tests.generator.sample_index import ENGLISH
from tests.server.running import serving_with_model
from tests.server.test_mcp import called, run

pytestmark = pytest.mark.slow  # starts processes of the server

WRITTEN = {"ko": ["에어로젤"], "en": ["aerogel", "thermal runaway"], "years": [2015, None]}
BY_MODEL = {"question": ENGLISH, "strategist": "model", "k": 3}
AGENT = {"ko": ["메탄"], "en": ["methane", "paddy field"], "exclude": [{"en": "battery"}]}


def written():
    return streams_out(*events(WRITTEN))


def test_the_model_writes_the_strategy_of_a_search_its_plan_and_its_feed(sample_home, tmp_path):
    with serving_with_model(sample_home, tmp_path, *[written() for _ in range(3)]) as (server, model):
        found = server.post("/api/v1/search", json=BY_MODEL).json()
        planned = server.post("/api/v1/queries", json=BY_MODEL).json()
        address = server.post("/api/v1/feeds", json=BY_MODEL).json()["address"]
        feed = server.get(f"/feeds/{address.partition('/feeds/')[2]}").text
        again = server.post("/api/v1/search", json={**BY_MODEL, "strategy": found["strategy"]}).json()
    assert found["strategy"] == WRITTEN | {"exclude": [], "steps": [], "origin": "model"}
    assert found["applied"]["strategist"] == "model"
    assert planned["strategy"] == found["strategy"]
    assert again["hits"] == found["hits"]
    assert "aerogel" in feed.partition("strategy=")[2]
    assert len(model.bodies) == 3


def test_statistics_take_the_place_of_a_model_that_fails_and_a_note_says_so(sample_home, tmp_path):
    with serving_with_model(sample_home, tmp_path, *[answers_with("", status=500)] * 3) as (server, model):
        response = server.post("/api/v1/search", json=BY_MODEL)
    found = response.json()
    assert found["strategy"]["origin"] == "statistics"
    assert found["hits"]
    assert model.base_url.removesuffix("/v1") not in response.text
    assert "model_failed" in {code["code"] for code in found["note_codes"]}


@pytest.mark.parametrize(("tool", "question"), [("search", "query"), ("ask", "question")])
@pytest.mark.parametrize("given", [AGENT, json.dumps(AGENT)], ids=["object", "text"])
def test_an_agent_is_the_strategist(served, tool, question, given):
    arguments = {question: "What lowers emissions?", "strategy": given}
    found = run(called(served.url, tool, arguments)).structured_content
    assert found["strategy"] == AGENT | {"years": None, "steps": [], "origin": "recorded"}
    titles = [each["title"] for each in found.get("results") or found["references"]]
    assert "methane" in titles[0].lower()
