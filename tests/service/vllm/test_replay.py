"""A question that was recorded with a real server is answered again without any, to the byte."""

import asyncio
from pathlib import Path

import pytest

from generator.pipeline import AskRequest, answer_question
from generator.settings import LanguageModelSettings
from tests.generator.sample_index import KOREAN, settings_of, timeless
from tests.service.processes import free_ports
from tests.service.vllm.server import MODEL

pytest_plugins = ["tests.generator.sample_index"]


def asked(sample, home: Path, llm: LanguageModelSettings, mode: str, file: Path, question: str = KOREAN):
    settings = settings_of(home, llm=llm, cache={"mode": mode, "file": file})
    return asyncio.run(answer_question(sample, AskRequest(question), settings))


@pytest.fixture
def nowhere(settings: LanguageModelSettings) -> LanguageModelSettings:
    """Return the settings with an address at which nothing listens."""
    return settings.model_copy(update={"base_url": f"http://127.0.0.1:{free_ports(1)[0]}/v1"})


def test_a_replay_needs_no_server_and_differs_in_times_alone(
    sample, sample_home, settings, nowhere, tmp_path: Path
):
    file = tmp_path / "calls.sqlite"
    recorded = asked(sample, sample_home, settings, "record", file)
    replayed = asked(sample, sample_home, nowhere, "replay", file)

    assert replayed.answer == recorded.answer
    assert replayed.answer.written_by == MODEL
    cache = frozenset({"cache"})
    assert timeless(recorded.trace.record, cache) == timeless(replayed.trace.record, cache)
