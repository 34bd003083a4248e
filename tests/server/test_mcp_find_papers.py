"""The tool `find_papers`: the list of the command, as the official client gets it over stdio and HTTP."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp import ClientSession
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.generator.finding.test_finding_ends_early import WaitsInTheMiddle
from tests.generator.finding_model import serving_model
from tests.generator.language_model import events, streams_out
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.server.running import START_S, serving, wait_for
from tests.server.test_mcp import HEADERS, called, called_over_stdio, message, over_stdio, run

pytest_plugins = ["tests.generator.sample_index"]


def found(answer):
    """Return what a call of the tool has given."""
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def test_the_list_over_stdio_and_http_equals_the_list_of_the_command(sample_home, served):
    asked = {"question": KOREAN, "k": 5}
    over_http = found(run(called(served.url, "find_papers", asked)))
    over_stdio = found(run(called_over_stdio(sample_home, "find_papers", asked)))
    command = json.loads(shrag("find-papers", KOREAN, "-k", "5", "--json", home=sample_home).stdout)
    for listed in (over_http, over_stdio):
        assert listed["complete"]
        assert listed["known"] == command["known"]
        for paper, of_command in zip(listed["papers"], command["papers"], strict=True):
            assert paper["id"] == f"{NAME}:{of_command['id']}"
            assert paper["url"].endswith(f"/papers/{of_command['id']}?index={NAME}")
            for part in ("title", "score", "reason", "why"):
                assert paper[part] == of_command[part]
            first, first_of_command = paper["found_by"][0], of_command["found_by"][0]
            assert (first["kind"], first["rank"]) == (first_of_command["kind"], first_of_command["rank"])


def test_found_papers_are_fetched_by_their_ids(served):
    paper = found(run(called(served.url, "find_papers", {"question": ENGLISH, "k": 2, "year": "2019.."})))[
        "papers"
    ][0]
    fetched = run(called(served.url, "fetch", {"id": paper["id"]})).structured_content
    assert (fetched["title"], fetched["url"]) == (paper["title"], paper["url"])
    assert paper["metadata"]["year"] >= 2019


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"question": " "}, "the question is empty"),
        ({"question": "battery", "index": "nope"}, "no index 'nope'"),
        ({"question": "battery", "sources": ["nope"]}, "no source 'nope'"),
        ({"question": "battery", "year": "soon"}, "'soon' is no year or range of years"),
        ({"question": "battery", "k": 101}, "k: must be at most 100"),
        ({"question": "battery", "seconds": 0}, "seconds: must be more than 0"),
    ],
)
def test_an_invalid_call_is_an_error(served, arguments, words):
    answer = run(called(served.url, "find_papers", arguments))
    assert answer.is_error
    assert words in answer.content[0].text


async def with_progress(session):
    """Find papers; return the progress reports and the answer."""
    reports = []

    async def report(progress, total, words):
        reports.append((progress, total, words))

    arguments = {"question": ENGLISH, "seconds": 600}
    return reports, await session.call_tool("find_papers", arguments, progress_callback=report)


async def by_stdio(home, _):
    async with stdio_client(over_stdio(home)) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return await with_progress(session)


async def by_http_of_an_older_client(_, url):
    async with (
        streamable_http_client(f"{url}/mcp") as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        return await with_progress(session)


async def by_http_of_a_current_client(_, url):
    async with Client(f"{url}/mcp") as client:
        return await with_progress(client)


@pytest.mark.parametrize("use", [by_stdio, by_http_of_an_older_client, by_http_of_a_current_client])
def test_a_client_that_requests_progress_gets_it(sample_home, served, use):
    reports, answer = run(use(sample_home, served.url))
    assert found(answer)["papers"]
    progress = [each[0] for each in reports]
    assert progress
    assert progress == sorted(set(progress))
    assert {total for _, total, _ in reports} == {600}
    assert all("relevant" in words for *_, words in reports)


def test_a_client_that_accepts_only_json_gets_an_answer_without_progress(served):
    call = message("tools/call", {"name": "find_papers", "arguments": {"question": ENGLISH}})
    call["params"]["_meta"] = {"progressToken": "t"}
    answer = served.post("/mcp", json=call, headers=HEADERS | {"Accept": "application/json"})
    assert answer.json()["result"]["structuredContent"]["papers"]


def test_at_a_time_limit_the_papers_found_so_far_are_returned(sample_home, tmp_path):
    for seconds in (6, 60):  # on a slow machine nothing may be known within the first
        model = WaitsInTheMiddle(judged=2)
        with (
            serving_model(model) as settings,
            serving(sample_home, tmp_path / "log", **settings, server__ask_s=2 * seconds) as server,
            ThreadPoolExecutor() as threads,
        ):
            calls = [{"question": ENGLISH, "seconds": each} for each in (seconds, 600)]
            searches = [threads.submit(run, called(server.url, "find_papers", call)) for call in calls]
            own, servers = (found(search.result()) for search in searches)
            model.go_on.set()
        if own["known"] and servers["known"]:
            break
    budget = f"the budget of {seconds:.1f} seconds is spent"
    for listed, note in ((own, budget), (servers, "the server's time limit")):
        assert not listed["complete"]
        assert listed["known"]
        assert any(note in each for each in listed["notes"])


def test_a_stopping_server_returns_found_papers_and_refuses_answers(sample_home, tmp_path):
    model = WaitsInTheMiddle(judged=2)
    with (
        serving_model(model) as settings,
        # One call at a time: when a third judgement is asked for, the first has come.
        serving(
            sample_home, tmp_path / "log", **settings, llm__concurrency=1, server__stop_s=START_S
        ) as server,
        ThreadPoolExecutor() as threads,
    ):
        search = threads.submit(lambda: run(called(server.url, "find_papers", {"question": ENGLISH})))
        wait_for(lambda: model.calls["judgement"], lambda asked: asked > model.judged)
        server.process.terminate()
        listed = found(search.result())
        assert server.process.wait(START_S) == 0
        model.go_on.set()
    assert listed["papers"]
    assert any("stopped" in note for note in listed["notes"])
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")


def test_a_current_client_that_leaves_ends_the_models_work(sample_home, tmp_path):
    slowly = streams_out(*events({"intent": "x" * 30_000}), pause_s=0.05)

    async def leave(url, model):
        async with Client(f"{url}/mcp") as client:
            asked = asyncio.create_task(with_progress(client))
            assert await asyncio.to_thread(model.begun.wait, START_S)
            asked.cancel()
            assert await asyncio.to_thread(model.closed.wait, START_S)

    with model_served(slowly) as model:
        settings = {"llm__base_url": model.base_url, "llm__model": "tiny-writer"}
        with serving(sample_home, tmp_path / "log", **settings) as server:
            run(leave(server.url, model))
        assert "Traceback" not in server.log.read_text("utf-8")
