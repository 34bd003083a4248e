"""The tools of the Model Context Protocol: the official client, over stdio and HTTP, and hostile callers."""

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.generator.language_model import events, streams_out
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.indexer.made_corpora import ROOT, environment_of
from tests.interrupts import interrupts_heeded
from tests.needs import mostly_nightly
from tests.server.running import START_S, post_and_leave, serving_with_model

pytestmark = pytest.mark.slow  # starts processes of the server

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def run(coroutine):
    """Run a coroutine, with a loaded machine's patience."""
    return asyncio.run(asyncio.wait_for(coroutine, 2 * START_S))


@asynccontextmanager
async def session_over_stdio(home):
    """Run `shrag mcp`; yield a session of its client."""
    command = [str(ROOT / "shrag.py"), "mcp"]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment_of(home))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def called_over_stdio(home, tool, arguments):
    async with session_over_stdio(home) as session:
        return await session.call_tool(tool, arguments)


async def called(url, tool, arguments):
    async with Client(f"{url}/mcp") as client:
        # Else the client asks for them behind an answer, of a server that may have stopped by then.
        await client.list_tools()
        return await client.call_tool(tool, arguments)


def found(answer):
    """Return what a call of the tool has given."""
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def message(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def initialize(version):
    client = {"name": "test", "version": "1"}
    return message("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


def test_search_over_stdio_finds_papers_that_fetch_reads(sample_home):
    async def use():
        async with session_over_stdio(sample_home) as session:
            results = found(await session.call_tool("search", {"query": ENGLISH, "k": 3}))["results"]
            return results, found(await session.call_tool("fetch", {"id": results[0]["id"]}))

    results, paper = run(use())
    first = results[0]
    assert len(results) == 3
    assert {"id", "title", "url"} <= first.keys()
    assert (paper["id"], paper["title"]) == (first["id"], first["title"])
    assert first["text"] in paper["text"]
    assert paper["metadata"]["year"] == first["metadata"]["year"]


@pytest.mark.parametrize("end", mostly_nightly(["closed", "interrupted", "unread"], by_day={"unread"}))
def test_the_process_and_the_models_work_end_with_the_client(sample_home, end):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    asked = message("tools/call", {"name": "ask", "arguments": {"question": ENGLISH}}, 2)
    lines = [
        initialize("2025-06-18"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        asked,
    ]
    with model_served(slowly) as model:
        settings = {"base_url": model.base_url, "model": "tiny-writer", "allow_plain_http": "true"}
        with interrupts_heeded():
            process: Any = subprocess.Popen(
                [sys.executable, str(ROOT / "shrag.py"), "mcp"],
                env=environment_of(
                    sample_home, **{f"llm__{name}": value for name, value in settings.items()}
                ),
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
def test_clients_of_every_version_are_answered_without_a_redirect(served, path, version):
    with httpx.Client(base_url=served.url, headers=HEADERS, timeout=START_S) as client:
        begun = client.post(path, json=initialize(version))
        assert begun.json()["result"]["protocolVersion"] == version
        headers = {} if version < "2025-06-18" else {"MCP-Protocol-Version": version}
        answer = client.post(
            path, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers
        )
        assert answer.status_code == 202
        listed = client.post(path, json=message("tools/list"), headers=headers).json()["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["ask", "fetch", "find_papers", "search"]
        call = message("tools/call", {"name": "search", "arguments": {"query": "battery"}})
        found = client.post(path, json=call, headers=headers).json()["result"]
        assert json.loads(found["content"][0]["text"])["results"]
        assert not found.get("isError")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": ""}, "the question is empty"),
        ({"query": "a" * 20_001}, "the maximum is 20,000"),
        ({"query": "battery", "k": 0}, "k: must be at least 1"),
        ({"query": "battery", "index": "nope"}, "no index 'nope'"),
        ({"query": "battery", "index": "../../etc"}, "'../../etc' is not a valid index name"),
        ({"query": "battery", "year": "soon"}, "'soon' is no year or range of years"),
        ({"query": "battery", "strategy": "[" * 10_000}, "strategy: "),
        ({"query": "battery", "limit": 3}, "limit: unknown field"),
        ({}, "query: is missing"),
    ],
)
def test_an_invalid_call_has_the_message_of_the_command_line(served, arguments, words):
    answer = run(called(served.url, "search", arguments))
    assert answer.is_error
    assert words in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


@pytest.mark.parametrize("paper", ["nope", f"{NAME}:nope", f"{NAME}:../../CURRENT", ":", "a:b:c", "x" * 900])
def test_an_unknown_paper_is_an_error(served, paper):
    answer = run(called(served.url, "fetch", {"id": paper}))
    assert answer.is_error
    assert "no paper" in answer.content[0].text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.test"}, 421),
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_foreign_pages_and_other_types_are_refused(served, headers, status):
    answer = served.post("/mcp", json=initialize("2025-06-18"), headers=HEADERS | headers)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[" * 100_000, 400),
        (json.dumps([message("tools/list")] * 3).encode(), 400),
        (json.dumps(message("tools/call", {"name": "x" * 1_100_000})).encode(), 413),
    ],
)
def test_an_invalid_message_is_refused(served, body, status):
    answer = served.post("/mcp", content=body, headers=HEADERS)
    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert served.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("tool", "meta"),
    [
        ("ask", {}),
        pytest.param("find_papers", {}, marks=pytest.mark.nightly),
        ("find_papers", {"progressToken": 1}),
    ],
)
def test_a_client_that_leaves_ends_the_models_work(sample_home, tmp_path, tool, meta):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    with serving_with_model(sample_home, tmp_path, slowly) as (server, model):
        call = message("tools/call", {"name": tool, "arguments": {"question": ENGLISH}, "_meta": meta})
        for version, asked in (({}, model.begun), ({"MCP-Protocol-Version": "2025-06-18"}, model.second)):
            model.closed.clear()
            post_and_leave(f"{server.url}/mcp", asked, json=call, headers=HEADERS | version)
            assert model.closed.wait(START_S)
        assert "Traceback" not in server.log.read_text()


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


@asynccontextmanager
async def older_client(url):
    async with (
        streamable_http_client(f"{url}/mcp") as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@pytest.mark.parametrize(
    "session_of",
    [
        lambda home, _: session_over_stdio(home),
        lambda _, url: older_client(url),
        lambda _, url: Client(f"{url}/mcp"),
    ],
    ids=["stdio", "older client", "client"],
)
def test_a_client_that_requests_progress_gets_it(sample_home, served, session_of):
    reports = []

    async def report(*reported):
        reports.append(reported)

    async def use():
        async with session_of(sample_home, served.url) as session:
            arguments = {"question": ENGLISH, "seconds": 600}
            return await session.call_tool("find_papers", arguments, progress_callback=report)

    answer = run(use())
    assert found(answer)["papers"]
    progress = [each[0] for each in reports]
    assert progress
    assert progress == sorted(set(progress))
    assert {total for _, total, _ in reports} == {600}
    assert all("relevant" in words for *_, words in reports)
