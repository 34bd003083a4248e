"""The tool `find_papers`: the list of the command, as the official client gets it over stdio and HTTP."""

import json

import pytest
from mcp import ClientSession
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.server.test_mcp import called, called_over_stdio, over_stdio, run


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
