"""What can go wrong between a question and vLLM: it is answered within its limits, and failures are told."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from generator.answers.answer import EXTRACTIVE
from generator.pipeline import AskRequest, AskResult, answer_question
from tests.generator.sample_index import KOREAN, NAME, settings_of, shrag
from tests.service.vllm.conftest import settings_for
from tests.service.vllm.proxy import HELD, NONE, Fault, Proxy
from tests.service.vllm.server import MODEL, Server

pytest_plugins = ["tests.generator.sample_index"]

RUNNING = "vllm:num_requests_running"
STATISTICS, QUOTATION = "strategy from statistics, the model failed:", "extractive answer, the model failed:"


@dataclass(frozen=True)
class Case:
    """The faults that the calls of one question meet in turn, and what the reader is told of them."""

    faults: tuple[Fault, ...]
    written_by: str = MODEL
    told: tuple[str, ...] = ()
    calls: int = 3  # keywords in two languages and the answer
    llm: dict[str, Any] = field(default_factory=dict)


ALWAYS = 20  # more calls than any question makes
QUICK = {"first_token_s": 2, "between_tokens_s": 2, "retries": 0}
CASES = {
    "a slow answer": Case((Fault(wait_s=1),) * 3),
    "too slow an answer": Case(
        (HELD,) * ALWAYS, EXTRACTIVE, (STATISTICS, "silent for 2 s", "FIRST_TOKEN_S", QUOTATION), 2, QUICK
    ),
    "a stream cut once": Case((Fault(cut_after=1_500),), calls=4),
    "a stream cut always": Case(
        (Fault(cut_after=1_500),) * ALWAYS, EXTRACTIVE, (STATISTICS, QUOTATION), 9, {"circuit_failures": 99}
    ),
    "a stream that stands still": Case(
        (Fault(hold_after=1_500),) * ALWAYS,
        EXTRACTIVE,
        (STATISTICS, "BETWEEN_TOKENS_S", QUOTATION),
        2,
        QUICK | {"first_token_s": 120},
    ),
    "the answer's stream cut, not the keywords'": Case(
        (NONE, NONE, *(Fault(cut_after=1_500),) * ALWAYS), EXTRACTIVE, (QUOTATION,), 3, {"retries": 0}
    ),
    "a whole answer cut": Case(
        (Fault(cut_after=100),) * ALWAYS,
        EXTRACTIVE,
        (STATISTICS, QUOTATION),
        3,
        {"stream": False, "retries": 0},
    ),
}


def asked(sample, home, llm) -> AskResult:
    return asyncio.run(answer_question(sample, AskRequest(KOREAN), settings_of(home, llm=llm)))


def told_of(found: AskResult) -> str:
    return "\n".join(found.result.notes)


@pytest.mark.parametrize("name", CASES)
def test_a_question_is_answered_whatever_its_calls_meet(name: str, proxy: Proxy, vllm, sample, sample_home):
    case = CASES[name]
    proxy.meet(*case.faults)

    found = asked(sample, sample_home, settings_for(proxy.base_url, **case.llm))

    assert found.answer.written_by == case.written_by
    assert found.answer.sentences or found.answer.statement
    for one in case.told:
        assert one in told_of(found)
    assert ("the model failed" in told_of(found)) == bool(case.told)
    assert len(proxy.calls) == case.calls
    vllm.wait_for_metric(RUNNING, 0)


def test_a_prompt_beyond_the_context_is_told_or_made_to_fit(vllm, sample, sample_home):
    # The five passages take about 4,000 tokens of the 16,384; so little is left for them.
    found = asked(sample, sample_home, settings_for(f"{vllm.url}/v1", max_tokens=15_500))

    assert found.answer.written_by in {MODEL, EXTRACTIVE}
    assert "context" in told_of(found) or "shortened" in told_of(found)


def in_the_middle(sample, home, llm, act: Callable[[], None], server: Server) -> AskResult:
    """Ask, and act while vLLM writes; the acting is this thread's, with which the server would die."""
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(asked, sample, home, llm)
        server.wait_for_metric(RUNNING, 1)
        act()
        return asking.result()


# To start it again takes a minute of a core; by day tests/generator/test_server_faults.py breaks off streams.
@pytest.mark.nightly
def test_a_server_killed_in_the_middle_of_a_stream_ends_the_question_and_later_answers(
    own_vllm: Server, proxy: Proxy, sample, sample_home
):
    direct = settings_for(f"{own_vllm.url}/v1", max_tokens=8_000, temperature=2)

    found = in_the_middle(sample, sample_home, direct, own_vllm.kill, own_vllm)

    assert found.answer.written_by == EXTRACTIVE
    assert STATISTICS in told_of(found)
    assert QUOTATION in told_of(found)

    done = shrag(
        *("ask", KOREAN, "--name", NAME), home=sample_home, llm__base_url=direct.base_url, llm__model=MODEL
    )
    assert done.returncode == 0
    assert "cannot reach" in done.stdout + done.stderr

    own_vllm.restart()
    found = asked(sample, sample_home, settings_for(f"{own_vllm.url}/v1"))
    assert found.answer.written_by == MODEL


def test_a_server_that_hangs_ends_the_question_within_its_limits(own_vllm: Server, sample, sample_home):
    patient = settings_for(f"{own_vllm.url}/v1", **QUICK)
    own_vllm.pause()
    try:
        found = asked(sample, sample_home, patient)
    finally:
        own_vllm.resume()

    assert found.answer.written_by == EXTRACTIVE
    assert told_of(found).count("FIRST_TOKEN_S") == 2
