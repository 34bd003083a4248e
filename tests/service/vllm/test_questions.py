"""Questions, the doctor and the HTTP server with a real vLLM whose model says nonsense: all is labelled."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from generator.answers.answer import EXTRACTIVE
from generator.pipeline import AskRequest, answer_question
from generator.tracing import Trace
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, settings_of, shrag
from tests.server.running import Served, events_of, serving
from tests.service.vllm.models import CONTEXT
from tests.service.vllm.server import MODEL, Running
from tests.stack.asking_the_doctor import doctor, statuses

RUNNING = "vllm:num_requests_running"
STREAM = {"Accept": "text/event-stream"}
FINISHED = "vllm:request_success_total"
WAIT_S = 240  # for a tiny model on a loaded machine
SUBJECTS = ["reachable", "model", "context", "JSON schema"]
CHECKS = {"supported", "unsupported", "not checked"}


def answered(index, home: Path, llm, **changed):
    return asyncio.run(answer_question(index, AskRequest(KOREAN), settings_of(home, llm=llm, **changed)))


def test_nonsense_in_valid_json_is_an_answer_with_its_writer_and_its_checks(
    vllm: Running, sample_home, tmp_path
):
    trace = tmp_path / "trace.json"
    done = shrag(
        *("ask", KOREAN, "--name", NAME, "--json", "--trace", trace),
        home=sample_home,
        llm__base_url=f"{vllm.url}/v1",
        llm__model=MODEL,
        llm__max_tokens="600",
    )

    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    answer, evidence = record["answer"], {one["passage_id"] for one in record["evidence"]}
    assert answer["written_by"] == MODEL
    assert 1 <= len(evidence) <= 5
    assert {one["check"] for one in answer["sentences"]} <= CHECKS
    for sentence in answer["sentences"]:
        assert set(sentence["citations"]) <= evidence
        assert sentence["citations"] or sentence["check"] == "unsupported"
    calls = [step["name"] for step in Trace.load(trace).steps() if step.get("model_call")]
    assert calls == ["keywords", "keywords", "answer"]


def test_a_prompt_beyond_the_context_is_told_or_made_to_fit(sample, sample_home, settings):
    # The five passages take about 4,000 tokens of the 16,384; so little is left for them.
    found = answered(sample, sample_home, settings.model_copy(update={"max_tokens": 15_500}))
    assert found.answer.written_by in {MODEL, EXTRACTIVE}
    assert any("context" in note or "shortened" in note for note in found.result.notes)


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


def at(server: Running, **changed):
    """Return the variables that name the model of a server."""
    named = {"llm__base_url": f"{server.url}/v1", "llm__model": MODEL, "llm__max_tokens": 600}
    return named | {"llm__deadline_s": 120} | changed


def test_a_server_that_runs_is_well(vllm: Running, tmp_path):
    code, found = doctor(tmp_path, **at(vllm))

    assert (code, statuses("language model", found)) == (0, dict.fromkeys(SUBJECTS, "ok"))
    assert found["language model", "context"]["found"] == f"{CONTEXT:,} tokens"
