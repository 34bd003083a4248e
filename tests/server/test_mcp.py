"""The tools of the Model Context Protocol: the official client over stdio and HTTP, and clients that leave.

Refused calls are in `refused_calls.jsonl`.
"""

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.generator.language_model import answers_with, events, streams_out
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.indexer.made_corpora import ROOT, environment_of
from tests.interrupts import interrupts_heeded
from tests.needs import mostly_nightly
from tests.server.running import START_S, TOOL_CALLS, message, serving_with_model, tool_call

pytestmark = pytest.mark.slow  # starts processes of the server

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@asynccontextmanager
async def over_stdio(home, _):
    """Run `shrag mcp`; yield a session of its client."""
    command = [str(ROOT / "shrag.py"), "mcp"]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment_of(home))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def older_client(_, url):
    async with (
        streamable_http_client(f"{url}/mcp") as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def client(_, url):
    async with Client(f"{url}/mcp") as session:
        # Else the client asks for them behind an answer, of a server that may have stopped by then.
        await session.list_tools()
        yield session


def found(answer):
    """Return what a call of the tool has given."""
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def initialize(version):
    client = {"name": "test", "version": "1"}
    return message("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


@pytest.mark.parametrize("session_of", [over_stdio, older_client, client])
def test_a_client_finds_reads_and_lists_papers_as_the_command_does_and_is_told_progress(
    sample_home, served, session_of
):
    reports = []

    async def report(*reported):
        reports.append(reported)

    async def use():
        async with session_of(sample_home, served.url) as session:
            results = found(await session.call_tool("search", {"query": ENGLISH, "k": 3}))["results"]
            paper = found(await session.call_tool("fetch", {"id": results[0]["id"]}))
            asked = {"question": KOREAN, "k": 5, "seconds": 600}
            listed = found(await session.call_tool("find_papers", asked, progress_callback=report))
            return results, paper, listed

    results, paper, listed = asyncio.run(asyncio.wait_for(use(), 2 * START_S))
    assert len(results) == 3
    assert (paper["id"], paper["title"]) == (results[0]["id"], results[0]["title"])
    assert results[0]["text"] in paper["text"]
    assert paper["metadata"]["year"] == results[0]["metadata"]["year"]

    command = json.loads(shrag("find-papers", KOREAN, "-k", "5", "--json", home=sample_home).stdout)
    assert (listed["complete"], listed["known"]) == (True, command["known"])
    for one, of_command in zip(listed["papers"], command["papers"], strict=True):
        assert one["id"] == f"{NAME}:{of_command['id']}"
        assert one["url"].endswith(f"/papers/{of_command['id']}?index={NAME}")
        for part in ("title", "score", "reason", "why"):
            assert one[part] == of_command[part]
    progress = [each[0] for each in reports]
    assert progress
    assert progress == sorted(set(progress))
    assert {total for _, total, _ in reports} == {600}


@pytest.mark.parametrize("end", mostly_nightly(["closed", "interrupted", "unread"], by_day={"unread"}))
def test_the_process_and_the_models_work_end_with_the_client(sample_home, end):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    lines = [
        initialize("2025-06-18"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        message("tools/call", {"name": "ask", "arguments": {"question": ENGLISH}}, 2),
    ]
    with model_served(slowly) as model:
        settings = {"base_url": model.base_url, "model": "tiny-writer", "allow_plain_http": "true"}
        environment = environment_of(sample_home, **{f"llm__{name}": settings[name] for name in settings})
        with interrupts_heeded():
            process: Any = subprocess.Popen(
                [sys.executable, str(ROOT / "shrag.py"), "mcp"],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        assert model.begun.wait(START_S)
        if end == "closed":
            process.stdin.close()
        elif end == "interrupted":
            process.send_signal(signal.SIGINT)
        else:
            process.stdout.close()
            process.stdin.write(f"{json.dumps(message('tools/list', number=3))}\n")
            process.stdin.flush()
        assert process.wait(START_S) == (130 if end == "interrupted" else 0)
        assert process.stderr.read() == ""
        assert model.closed.wait(START_S)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("version", VERSIONS)
def test_clients_of_every_version_are_answered_without_a_redirect(api, path, version):
    def post(body, **headers):
        return api.post(path, json=body, headers=TOOL_CALLS | headers, follow_redirects=False)

    assert post(initialize(version)).json()["result"]["protocolVersion"] == version
    headers = {} if version < "2025-06-18" else {"MCP-Protocol-Version": version}
    begun = post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    assert begun.status_code == 202
    listed = post(message("tools/list"), **headers).json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["ask", "fetch", "find_papers", "search"]
    called = tool_call(api, "search", {"query": "battery"}, **headers)
    assert json.loads(called["content"][0]["text"])["results"]


# The strategist of a search, over HTTP and MCP.

WRITTEN = {"ko": ["에어로젤"], "en": ["aerogel", "thermal runaway"], "years": [2015, None]}
BY_MODEL = {"question": ENGLISH, "strategist": "model", "k": 3}
AGENT = {"ko": ["메탄"], "en": ["methane", "paddy field"], "exclude": [{"en": "battery"}]}


def test_the_model_writes_the_strategy_of_a_search_its_plan_and_its_feed_or_a_note_says_why_not(
    sample_home, tmp_path
):
    behaviours = [streams_out(*events(WRITTEN))] * 3 + [answers_with("", status=500)]
    with serving_with_model(sample_home, tmp_path, *behaviours) as (server, model):
        found = server.post("/api/v1/search", json=BY_MODEL).json()
        planned = server.post("/api/v1/queries", json=BY_MODEL).json()
        address = server.post("/api/v1/feeds", json=BY_MODEL).json()["address"]
        feed = server.get(f"/feeds/{address.partition('/feeds/')[2]}").text
        again = server.post("/api/v1/search", json={**BY_MODEL, "strategy": found["strategy"]}).json()
        assert len(model.bodies) == 3
        failed = server.post("/api/v1/search", json=BY_MODEL)
    assert found["strategy"] == WRITTEN | {"exclude": [], "steps": [], "origin": "model"}
    assert found["applied"]["strategist"] == "model"
    assert planned["strategy"] == found["strategy"]
    assert again["hits"] == found["hits"]
    assert "aerogel" in feed.partition("strategy=")[2]
    assert failed.json()["strategy"]["origin"] == "statistics"
    assert failed.json()["hits"]
    assert "model_failed" in {code["code"] for code in failed.json()["note_codes"]}
    assert model.base_url.removesuffix("/v1") not in failed.text


@pytest.mark.parametrize(("tool", "question"), [("search", "query"), ("ask", "question")])
@pytest.mark.parametrize("given", [AGENT, json.dumps(AGENT)], ids=["object", "text"])
def test_an_agent_is_the_strategist(api, tool, question, given):
    arguments = {question: "What lowers emissions?", "strategy": given}
    found = tool_call(api, tool, arguments)["structuredContent"]
    assert found["strategy"] == AGENT | {"years": None, "steps": [], "origin": "recorded"}
    titles = [each["title"] for each in found.get("results") or found["references"]]
    assert "methane" in titles[0].lower()
