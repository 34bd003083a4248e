"""The whole way of a question with a real server whose model says nonsense: all is labelled."""

import asyncio
import json
from pathlib import Path

from generator.answers.answer import EXTRACTIVE
from generator.pipeline import AskRequest, answer_question
from generator.tracing import Trace
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, settings_of, shrag, timeless
from tests.service.processes import free_ports
from tests.service.vllm.server import MODEL, Running

pytest_plugins = ["tests.generator.sample_index"]

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


def test_an_evaluation_run_takes_its_keywords_from_the_model(vllm: Running, sample_home, tmp_path):
    topics, run = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text(f"S1\t{KOREAN}\nS2\t{ENGLISH}\n", encoding="utf-8")
    done = shrag(
        *("eval", "run", topics, "--name", NAME, "--strategist", "model", "--out", run, "-k", "5"),
        home=sample_home,
        llm__base_url=f"{vllm.url}/v1",
        llm__model=MODEL,
        llm__max_tokens="600",
    )

    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in run.read_text().splitlines()} == {"S1", "S2"}


def test_a_prompt_beyond_the_context_is_told_or_made_to_fit(sample, sample_home, settings):
    # The five passages take about 4,000 tokens of the 16,384; so little is left for them.
    found = answered(sample, sample_home, settings.model_copy(update={"max_tokens": 15_500}))
    assert found.answer.written_by in {MODEL, EXTRACTIVE}
    assert any("context" in note or "shortened" in note for note in found.result.notes)


def test_a_replay_needs_no_server_and_differs_in_times_alone(sample, sample_home, settings, tmp_path):
    nowhere = settings.model_copy(update={"base_url": f"http://127.0.0.1:{free_ports(1)[0]}/v1"})
    file = tmp_path / "calls.sqlite"
    recorded, replayed = (
        answered(sample, sample_home, llm, cache={"mode": mode, "file": file})
        for llm, mode in ((settings, "record"), (nowhere, "replay"))
    )

    assert replayed.answer == recorded.answer
    assert replayed.answer.written_by == MODEL
    cache = frozenset({"cache"})
    assert timeless(recorded.trace.record, cache) == timeless(replayed.trace.record, cache)
