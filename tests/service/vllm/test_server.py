"""The HTTP server with a real vLLM: an answer as it is written, and a reader who leaves."""

from typing import Any

import httpx
import pytest

from tests.generator.sample_index import ENGLISH
from tests.server.running import Served, serving
from tests.server.sse import events_of
from tests.service.vllm.server import MODEL, Running

pytest_plugins = ["tests.generator.sample_index"]

RUNNING = "vllm:num_requests_running"
STREAM = {"Accept": "text/event-stream"}
FINISHED = "vllm:request_success_total"
WAIT_S = 240  # for a tiny model on a loaded machine


@pytest.fixture
def server(vllm: Running, sample_home, tmp_path):
    settings = {"llm__base_url": f"{vllm.url}/v1", "llm__model": MODEL, "llm__max_tokens": "600"}
    with serving(sample_home, tmp_path / "log", **settings) as server:
        yield server


def asking(server: Served):
    call: dict[str, Any] = {"json": {"question": ENGLISH}, "headers": STREAM, "timeout": WAIT_S}
    return httpx.stream("POST", f"{server.url}/api/v1/ask", **call)


def test_an_answer_comes_as_the_model_writes_it(server: Served, vllm: Running):
    with asking(server) as answer:
        found = list(events_of(answer.iter_lines()))
    assert [event.number for event in found] == list(range(1, len(found) + 1))
    assert found[-1].name == "done"
    assert found[-1].data["answer"]["written_by"] == MODEL
    assert {event.data["strategy"]["origin"] for event in found if event.name == "keywords"} == {"model"}
    standing: list[int] = []
    for event in found:
        if event.name == "restart":
            standing = []
        elif event.name == "sentence":
            standing.append(event.data["text"])
    assert standing == [sentence["text"] for sentence in found[-1].data["answer"]["sentences"]]
    vllm.wait_for_metric(RUNNING, 0)


def test_the_model_stops_when_the_reader_of_a_stream_leaves(server: Served, vllm: Running):
    before = vllm.metric(FINISHED)
    with asking(server) as answer:
        arriving = events_of(answer.iter_lines())  # kept: who drops it closes the connection
        next(arriving)
        vllm.wait_for_metric(RUNNING, 1)
    vllm.wait_for_metric(RUNNING, 0)
    assert vllm.metric(FINISHED) - before < 3  # of a question's calls: two keywords, one answer
