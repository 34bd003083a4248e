"""Ways: a new one is one new file and a line of the table."""

import asyncio

import pytest

from generator.answers.answer import no_answer
from generator.errors import UnknownWay
from generator.pipeline import AskRequest, answer_question
from generator.ways import WAYS, WayModule, find_way
from tests.generator.sample_index import ENGLISH, settings_of
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]

TOY_WAY = '''
"""Search twice, by two methods, at the same time; answer nothing."""

import asyncio

from generator.answers.answer import no_answer
from generator.answers.answer import WayResult
from generator.ways.shrag import search_step
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


def add_way(monkeypatch, folder, name, text):
    """Add a way: a module and a line of the table."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setitem(WAYS, name, WayModule(module))


@pytest.fixture
def toy_way(tmp_path, monkeypatch):
    """Add a way of two searches."""
    add_way(monkeypatch, tmp_path, "two-searches", TOY_WAY)


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
