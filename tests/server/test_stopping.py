"""A server that is told to stop, and readers that leave: no call is left without an end, no work goes on."""

import asyncio
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.generator.language_model import events, piece, streams_out
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH
from tests.server.running import children_of, post_and_leave, serving

pytest_plugins = ["tests.generator.sample_index"]

STREAMS = 50
WITHIN_S = 5.0
SLACK_S = 5.0  # of a loaded machine, beside what is promised
KEYWORDS = {"keywords": ["battery", "thermal runaway"]}
ENDLESS = streams_out(*[piece("no answer yet ")] * 600, pause_s=0.1)
STREAMED = {"Accept": "text/event-stream"}


@pytest.fixture
def slow_model():
    """Run a model that writes for a minute."""
    with model_served(ENDLESS) as model:
        yield model


def with_model(model):
    return {"llm__base_url": model.base_url, "llm__model": "tiny-writer-7b"}


async def read_to_end(client, url, begun):
    """Read a stream; return its events' names and data."""
    kinds, data = [], []
    async with client.stream("GET", url, params={"question": ENGLISH}, headers=STREAMED) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: "))
                begun.set()
            elif line.startswith("data: "):
                data.append(json.loads(line.removeprefix("data: ")))
    return kinds, data


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2)]
)
def test_each_of_fifty_streams_ends_with_an_event_when_the_server_stops(
    sample_home, tmp_path, slow_model, number, workers
):
    async def use(server):
        begun = asyncio.Event()
        limits = httpx.Limits(max_connections=STREAMS)
        async with httpx.AsyncClient(timeout=60, limits=limits) as client:
            url = f"{server.url}/api/v1/ask"
            reading = [asyncio.create_task(read_to_end(client, url, begun)) for _ in range(STREAMS)]
            await begun.wait()
            await asyncio.sleep(1)  # until all have come in
            server.process.send_signal(number)
            started = time.monotonic()
            ended = await asyncio.gather(*reading)
            return ended, started

    with serving(
        sample_home,
        tmp_path / "log",
        "--workers",
        str(workers),
        server__asks_at_once=STREAMS,
        server__asks_per_minute=60 * STREAMS,
        server__ask_burst=STREAMS,
        **with_model(slow_model),
    ) as server:
        ended, started = asyncio.run(use(server))
        code = server.process.wait(WITHIN_S + SLACK_S)
        took_s = time.monotonic() - started

    for kinds, data in ended:
        assert kinds[-1] == "error"
        assert data[-1]["code"] == "stopping"
    assert code == 0
    assert took_s < WITHIN_S + SLACK_S
    assert slow_model.closed.wait(WITHIN_S)
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/healthz")


def test_a_plain_call_is_answered_with_a_problem_when_the_server_stops(sample_home, tmp_path, slow_model):
    with (
        serving(sample_home, tmp_path / "log", **with_model(slow_model)) as server,
        ThreadPoolExecutor() as threads,
    ):
        url = f"{server.url}/api/v1/ask"
        asked = [threads.submit(httpx.post, url, json={"question": ENGLISH}, timeout=60) for _ in range(6)]
        assert slow_model.begun.wait(60)
        time.sleep(0.5)
        server.process.terminate()
        answers = [call.result() for call in asked]
        assert server.process.wait(WITHIN_S + SLACK_S) == 0

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(503, "stopping")] * 6


def test_a_worker_that_hangs_does_not_hold_up_the_end(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", "--workers", "2") as server:
        os.kill(children_of(server.process.pid)[-1], signal.SIGSTOP)
        server.process.terminate()
        assert server.process.wait(WITHIN_S + SLACK_S) == 0


@pytest.mark.parametrize("streamed", [True, False])
def test_the_model_is_not_asked_on_when_the_reader_has_left(sample_home, tmp_path, slow_model, streamed):
    with serving(sample_home, tmp_path / "log", **with_model(slow_model)) as server:
        call = {"json": {"question": ENGLISH}, "headers": STREAMED if streamed else {}}
        post_and_leave(f"{server.url}/api/v1/ask", slow_model.begun, **call)
        assert slow_model.closed.wait(WITHIN_S + SLACK_S)
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert len(slow_model.bodies) == 1


def test_an_answer_that_is_not_hurried_arrives_whole(sample_home, tmp_path):
    with (
        model_served(streams_out(*events(KEYWORDS))) as model,
        serving(sample_home, tmp_path / "log", **with_model(model)) as server,
    ):
        kinds, _ = asyncio.run(_one(f"{server.url}/api/v1/ask"))
    assert kinds[-1] == "done"


async def _one(url):
    async with httpx.AsyncClient(timeout=60) as client:
        return await read_to_end(client, url, asyncio.Event())
