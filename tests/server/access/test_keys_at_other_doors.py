"""What a key opens for chat programs and callers of tools: the same as for the API."""

import asyncio
import json
from typing import Any

import openai
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.indexer.made_corpora import ROOT, build
from tests.server.running import serving
from tests.server.test_mcp import HEADERS, VERSIONS, initialize, message

HANDSHAKES = [*VERSIONS, None]


@pytest.fixture(scope="module")
def keyed(sample_home, tmp_path_factory):
    """Serve two indexes; return the server, a key of all, and a key of the index `other`."""
    home = tmp_path_factory.mktemp("keyed")
    (home / NAME).symlink_to(sample_home / NAME)
    build(home, ROOT / "sample" / "held-out" / "papers.jsonl", name="other")
    keys = [
        shrag("keys", "create", *options, home=home).stdout.strip() for options in ((), ("--index", "other"))
    ]
    with serving(home, home / "log", server__asks_per_minute=0) as server:
        yield server, *keys


def called(server, key, tool, arguments):
    """Call a tool as today's client does."""

    async def use():
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {key}"}) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)

    return asyncio.run(asyncio.wait_for(use(), 60))


def test_without_a_key_nothing_is_answered(keyed):
    server, *_ = keyed
    for path in ("/mcp", "/mcp/"):
        bodies: list[Any] = [initialize("2025-06-18"), message("tools/list"), []]
        for body in bodies:
            answer = server.post(path, json=body, headers=HEADERS)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert server.get(path).status_code == 401
    with pytest.raises(openai.AuthenticationError, match="key"):
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong").models.list()
    assert server.get("/v1/models").json()["error"]["message"]


def test_a_key_opens_both_doors(keyed):
    server, key, _ = keyed
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=key)
    assert [model.id for model in client.models.list()] == ["other", NAME]
    asked: Any = [{"role": "user", "content": ENGLISH}]
    assert client.chat.completions.create(model=NAME, messages=asked).choices[0].message.annotations
    found = called(server, key, "search", {"query": ENGLISH, "index": NAME})
    assert found.structured_content["results"]


def test_other_indexes_are_no_models_for_a_key_of_one(keyed):
    server, _, key = keyed
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=key)
    assert [model.id for model in client.models.list()] == ["other"]
    for name in (NAME, "missing"):
        with pytest.raises(openai.NotFoundError) as refused:
            client.chat.completions.create(model=name, messages=[{"role": "user", "content": ENGLISH}])
        assert refused.value.code == "model_not_found"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve(name)


@pytest.mark.parametrize("version", HANDSHAKES)
def test_other_indexes_are_not_there_for_the_tools_of_a_key_of_one(keyed, version):
    server, _, key = keyed
    headers = HEADERS | {"Authorization": f"Bearer {key}"}
    headers |= {"MCP-Protocol-Version": version} if version else {}

    def texts(tool, arguments):
        call = message("tools/call", {"name": tool, "arguments": arguments})
        result = server.post("/mcp", json=call, headers=headers).json()["result"]
        return result.get("isError"), result["content"][0]["text"]

    for tool, field in (("search", "query"), ("ask", "question"), ("find_papers", "question")):
        refused, told = texts(tool, {field: ENGLISH, "index": NAME})
        assert refused
        missing = texts(tool, {field: ENGLISH, "index": "missing"})[1]
        assert told.replace(NAME, "missing") == missing
    refused, told = texts("fetch", {"id": f"{NAME}:SAMPLE-AGR-001"})
    assert refused
    assert "methane" not in told
    found = json.loads(texts("search", {"query": ENGLISH})[1])["results"]
    found += json.loads(texts("find_papers", {"question": ENGLISH})[1])["papers"]
    assert all(each["id"].startswith("other:") for each in found)
