"""The whole way of a question with a real server whose model says nonsense: all is labelled."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest

from generator.pipeline import AskRequest, answer_question
from generator.tracing.trace import Trace
from retriever.index import SearchIndex
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, settings_of, shrag
from tests.service.vllm.running import Running
from tests.service.vllm.server import MODEL

pytest_plugins = ["tests.generator.sample_index"]

RUNNING = "vllm:num_requests_running"
CHECKS = {"supported", "unsupported", "not checked"}


def answered(index: SearchIndex, home: Path, llm, question: str = KOREAN):
    return asyncio.run(answer_question(index, AskRequest(question), settings_of(home, llm=llm)))


@pytest.mark.parametrize("question", [KOREAN, ENGLISH], ids=["Korean", "English"])
def test_nonsense_in_valid_json_is_an_answer_with_its_writer_and_its_checks(
    question: str, sample, sample_home, settings
):
    record = answered(sample, sample_home, settings, question).as_record()

    answer, evidence = record["answer"], {one["passage_id"] for one in record["evidence"]}
    assert answer["written_by"] == MODEL
    assert 1 <= len(evidence) <= 5
    assert {one["check"] for one in answer["sentences"]} <= CHECKS
    for sentence in answer["sentences"]:
        assert set(sentence["citations"]) <= evidence
        assert sentence["citations"] or sentence["check"] == "unsupported"


def test_a_question_that_is_given_up_stops_the_server_too(vllm: Running, sample, sample_home, settings):
    async def ask_and_give_up() -> None:
        question = answer_question(sample, AskRequest(KOREAN), settings_of(sample_home, llm=settings))
        task = asyncio.create_task(question)
        await asyncio.to_thread(vllm.wait_for_metric, RUNNING, 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(ask_and_give_up())

    vllm.wait_for_metric(RUNNING, 0)


def test_five_questions_at_once_get_the_answers_they_get_one_by_one(sample, sample_home, settings):
    async def at_once(questions):
        given = settings_of(sample_home, llm=settings)
        return await asyncio.gather(*(answer_question(sample, AskRequest(each), given) for each in questions))

    questions = [KOREAN, ENGLISH, KOREAN, ENGLISH, KOREAN]
    together = asyncio.run(at_once(questions))

    assert [one.result.question for one in together] == questions
    assert {one.answer.written_by for one in together} == {MODEL}
    assert len({one.result.hits[0].passage_id for one in together[::2]}) == 1


def test_the_command_asks_the_server_that_two_variables_name(vllm: Running, sample_home, tmp_path):
    trace = tmp_path / "trace.json"
    done = shrag(
        *("ask", KOREAN, "--name", NAME, "--json", "--trace", trace),
        home=sample_home,
        llm__base_url=f"{vllm.url}/v1",
        llm__model=MODEL,
        llm__max_tokens="600",
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"]["written_by"] == MODEL
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
