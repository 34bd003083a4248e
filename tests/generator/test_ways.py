"""Ways: a new one is one new file."""

import asyncio
import json

import pytest

import generator.ways
from generator.answers import no_answer
from generator.errors import UnknownWay
from generator.pipeline import AskRequest, answer_question
from generator.ways import find_way, way_names
from tests.generator.sample_index import ENGLISH, NAME, settings_of, shrag
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]

TOY_WAY = '''
"""Search twice, by two methods, at the same time; answer nothing."""

import asyncio

from generator.answers import no_answer
from generator.request import WayResult
from generator.search_step import search_step
from retriever.search import SearchRequest, open_search


async def answer(request, resources, step):
    with step.step("hop", number=1) as hop:
        searches = [
            search_step(hop, open_search(resources.index, asked, resources.settings.retriever))
            for asked in (
                SearchRequest(request.question, method=method, k=request.evidence)
                for method in ("or", request.method)
            )
        ]
        _, found = await asyncio.gather(*searches)
        hop.output = [hit.passage_id for hit in found.hits]
    return WayResult(no_answer("en", "nobody"), found)
'''


@pytest.fixture
def toy_way(tmp_path, monkeypatch):
    """Add a way: one file where the package looks for them."""
    (tmp_path / "two_searches.py").write_text(TOY_WAY)
    monkeypatch.setattr(generator.ways, "__path__", [*generator.ways.__path__, str(tmp_path)])


def test_the_paper_s_way_is_there():
    assert "shrag" in way_names()


def test_a_file_that_begins_with_an_underscore_is_no_way(tmp_path, monkeypatch):
    (tmp_path / "_shared_by_ways.py").touch()
    monkeypatch.setattr(generator.ways, "__path__", [*generator.ways.__path__, str(tmp_path)])
    assert way_names() == ["shrag"]
    with pytest.raises(UnknownWay):
        find_way("-shared-by-ways")


def test_a_way_that_is_not_there_is_named_beside_those_that_are():
    with pytest.raises(UnknownWay, match=r"no way 'walk'; there are .*shrag"):
        find_way("walk")


def test_a_new_way_is_one_file_and_its_steps_stand_in_the_trace(toy_way, sample):
    request = AskRequest(ENGLISH, way="two-searches", method="paper", evidence=3)
    asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))
    (hop,) = asked.trace.record["steps"]
    assert [(step["name"], step["inputs"]["method"]) for step in hop["steps"]] == [
        ("search", "or"),
        ("search", "paper"),
    ]
    assert hop["output"] == [hit.passage_id for hit in asked.evidence]
    assert asked.answer == no_answer("en", "nobody")


def test_the_command_takes_a_new_way_and_shows_its_trace(toy_way, sample_home, tmp_path):
    file = tmp_path / "trace.json"
    options = ("--name", NAME, "--way", "two-searches", "--json", "--trace", file)
    done = shrag("ask", ENGLISH, *options, home=sample_home)
    assert json.loads(done.stdout)["answer"]["written_by"] == "nobody"
    shown = shrag("trace", "show", file, home=sample_home).stdout.splitlines()
    assert [line.partition(":")[0] for line in shown if " ms" in line[:20]] == ["hop", "  search", "  search"]
