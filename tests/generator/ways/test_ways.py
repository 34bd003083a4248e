"""Ways: a new one is one new file and a line of the table."""

import asyncio
import json

import pytest

from generator.answers.answer import no_answer
from generator.errors import UnknownWay
from generator.pipeline import AskRequest, answer_question
from generator.ways import WAYS, WayModule, find_way, way_names
from tests.generator.sample_index import ENGLISH, NAME, settings_of, shrag
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]

TOY_WAY = '''
"""Search twice, by two methods, at the same time; answer nothing."""

import asyncio

from generator.answers.answer import no_answer
from generator.answers.answer import WayResult
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


def test_the_papers_ways_are_there():
    assert {"shrag", *(f"paper-qa-{number}" for number in range(1, 9))} <= set(way_names())


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


SOURCE = '''
"""A source: passages that somebody else recommends, whatever is asked."""

from retriever.engines import EngineHit


async def find(plan):
    return [EngineHit("SAMPLE-EDU-003", "SAMPLE-EDU-003", 1.0)]
'''
AGENT_STEP = '''
"""A step of an agent: which of the passages are of this decade."""


async def judge(parent, result):
    with parent.step("judge", passages=[hit.passage_id for hit in result.hits]) as step:
        step.output = [hit.passage_id for hit in result.hits if (hit.passage.year or 0) >= 2020]
    return step.output
'''
WAY_OF_BOTH = '''
"""Add a source's passages to the candidates, and let a step judge what is found."""

import recommended
import recent

from generator.answers.answer import no_answer
from generator.answers.answer import WayResult
from generator.search_step import search_step
from retriever.search import SearchRequest, open_search, run_stages


async def answer(request, resources, step):
    asked = SearchRequest(request.question, k=request.evidence)
    context = open_search(resources.index, asked, resources.settings.retriever)
    stages = await run_stages(context, upto="pool")
    pool = stages.pool.with_hits("recommended", await recommended.find(stages.plan))
    found = await search_step(step, context, stages.with_pool(pool))
    await recent.judge(step, found)
    return WayResult(no_answer("en", "nobody"), found)
'''


def test_a_source_and_an_agents_step_are_a_file_each_too(tmp_path, monkeypatch, sample):
    for name, text in {"recommended": SOURCE, "recent": AGENT_STEP}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    add_way(monkeypatch, tmp_path, "recommended-and-judged", WAY_OF_BOTH)

    request = AskRequest(ENGLISH, way="recommended-and-judged", evidence=100)
    asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))

    search, judge = asked.trace.record["steps"]
    assert [step["name"] for step in (search, judge)] == ["search", "judge"]
    [added] = [hit for hit in search["output"]["hits"] if hit["passage_id"] == "SAMPLE-EDU-003"]
    assert added["found_by_names"] == ["recommended"]
    assert "SAMPLE-EDU-003" in judge["output"]
