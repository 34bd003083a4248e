"""A server that is told to stop, and readers that leave: no call is left without an end, no work goes on."""

import asyncio
import json
import signal
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.generator.language_model import piece, streams_out
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH
from tests.needs import mostly_nightly
from tests.server.running import START_S, serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server

STREAMS = 50
KEYWORDS = {"en": ["battery", "thermal runaway"]}
ENDLESS = streams_out(*[piece("no answer yet ")] * 6_000, pause_s=0.1)
STREAMED = {"Accept": "text/event-stream"}


@pytest.fixture
def slow_model():
    """Run a model that writes for longer than any test waits."""
    with model_served(ENDLESS) as model:
        yield model


def with_model(model):
    return {
        "llm__base_url": model.base_url,
        "llm__model": "tiny-writer-7b",
        "llm__strategy_calls": "one",
    }


async def read_to_end(client, url, begun):
    """Read a stream; return its events' names and data."""
    kinds, data = [], []
    async with client.stream("GET", url, params={"question": ENGLISH}, headers=STREAMED) as answer:
        assert answer.status_code == 200
        begun.release()
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: "))
            elif line.startswith("data: "):
                data.append(json.loads(line.removeprefix("data: ")))
    return kinds, data


@pytest.mark.parametrize(
    ("number", "workers"),
    mostly_nightly(
        [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2)],
        by_day={(signal.SIGINT, 1), (signal.SIGTERM, 2)},
    ),
)
def test_each_of_fifty_streams_ends_with_an_event_when_the_server_stops(
    sample_home, tmp_path, slow_model, number, workers
):
    async def use(server):
        begun = asyncio.Semaphore(0)
        limits = httpx.Limits(max_connections=STREAMS)
        async with httpx.AsyncClient(timeout=START_S, limits=limits) as client:
            url = f"{server.url}/api/v1/ask"
            reading = [asyncio.create_task(read_to_end(client, url, begun)) for _ in range(STREAMS)]
            for _ in reading:
                await asyncio.wait_for(begun.acquire(), START_S)
            assert await asyncio.to_thread(slow_model.begun.wait, START_S)
            server.process.send_signal(number)
            return await asyncio.gather(*reading)

    with serving(
        sample_home,
        tmp_path / "log",
        "--workers",
        str(workers),
        server__asks_at_once=2 * STREAMS,  # a caller has half of them
        server__asks_per_minute=60 * STREAMS,
        server__ask_burst=STREAMS,
        server__stop_s=START_S,
        **with_model(slow_model),
    ) as server:
        ended = asyncio.run(use(server))
        code = server.process.wait(START_S)

    for kinds, data in ended:
        assert kinds[-1] == "error"
        assert data[-1]["code"] == "stopping"
    assert code == 0
    assert slow_model.closed.wait(START_S)
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/healthz", timeout=START_S)


def test_a_plain_call_is_answered_with_a_problem_when_the_server_stops(sample_home, tmp_path, slow_model):
    with (
        serving(sample_home, tmp_path / "log", server__stop_s=START_S, **with_model(slow_model)) as server,
        ThreadPoolExecutor(4) as threads,
    ):
        asked = [threads.submit(server.post, "/api/v1/ask", json={"question": ENGLISH}) for _ in range(4)]
        wait_for(lambda: len(slow_model.bodies), lambda count: count >= len(asked))
        server.process.terminate()
        answers = [call.result() for call in asked]
        assert server.process.wait(START_S) == 0
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(503, "stopping")] * 4
