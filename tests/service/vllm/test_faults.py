"""What can go wrong between a question and vLLM: it is answered within its limits, and failures are told."""

import asyncio

from generator.answers.answer import EXTRACTIVE
from generator.pipeline import AskRequest, AskResult, answer_question
from tests.generator.sample_index import KOREAN, settings_of
from tests.service.vllm.conftest import settings_for
from tests.service.vllm.server import MODEL, Server

pytest_plugins = ["tests.generator.sample_index"]

RUNNING = "vllm:num_requests_running"
STATISTICS, QUOTATION = "strategy from statistics, the model failed:", "extractive answer, the model failed:"


QUICK = {"first_token_s": 2, "between_tokens_s": 2, "retries": 0}


def asked(sample, home, llm) -> AskResult:
    return asyncio.run(answer_question(sample, AskRequest(KOREAN), settings_of(home, llm=llm)))


def told_of(found: AskResult) -> str:
    return "\n".join(found.result.notes)


def test_a_prompt_beyond_the_context_is_told_or_made_to_fit(vllm, sample, sample_home):
    # The five passages take about 4,000 tokens of the 16,384; so little is left for them.
    found = asked(sample, sample_home, settings_for(f"{vllm.url}/v1", max_tokens=15_500))

    assert found.answer.written_by in {MODEL, EXTRACTIVE}
    assert "context" in told_of(found) or "shortened" in told_of(found)


def test_a_server_that_hangs_ends_the_question_within_its_limits(own_vllm: Server, sample, sample_home):
    patient = settings_for(f"{own_vllm.url}/v1", **QUICK)
    own_vllm.pause()
    try:
        found = asked(sample, sample_home, patient)
    finally:
        own_vllm.resume()

    assert found.answer.written_by == EXTRACTIVE
    assert told_of(found).count("FIRST_TOKEN_S") == 2
