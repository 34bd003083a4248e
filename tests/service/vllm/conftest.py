"""The vLLM of a nightly test run, on a tiny random model.

Where the machine lacks what they need the tests are skipped, or failed if `SHRAG_REQUIRE_SERVICES=1`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.settings import LanguageModelSettings
from tests.service.processes import available
from tests.service.vllm.server import MODEL, START_SECONDS, Running, running_server

# Read before the settings of the user are hidden.
GIVEN = os.environ.get("SHRAG_TEST_VLLM_URL", "").rstrip("/")


# The first test of a run waits for a start.
START = pytest.mark.timeout(START_SECONDS + 300)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of this folder the time of a start, and leave it for the night."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(START)
            item.add_marker(pytest.mark.nightly)


@pytest.fixture(scope="session")
def _server() -> Iterator[Running]:
    if GIVEN:
        yield Running(GIVEN)
        return
    with available(), running_server() as server:
        yield server


@pytest.fixture
def vllm(_server: Running) -> Running:
    """Return the server that all tests of a run share, idle when the test begins."""
    _server.wait_for_metric("vllm:num_requests_running", 0)
    return _server


@pytest.fixture
def settings(vllm: Running) -> LanguageModelSettings:
    """Return settings that point at vLLM."""
    return settings_for(f"{vllm.url}/v1")


def settings_for(base_url: str, **changed: object) -> LanguageModelSettings:
    """Return settings of the tiny model at an address, with short answers and short pauses."""
    given = {"base_url": base_url, "model": MODEL, "max_tokens": 600, "backoff_s": 0.05} | changed
    return LanguageModelSettings.model_validate(given)
