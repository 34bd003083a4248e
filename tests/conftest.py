"""What every test can count on: an empty home of its own, and the shared evaluation data where it is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.counting"]

SHARED = Path(__file__).resolve().parents[2] / "shared"
SHARED_FIXTURES = {"shared_data", "shared_golden"}

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("shrag", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("shrag")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for the shared data, so that `-m "not shared"` leaves it out."""
    for item in items:
        if SHARED_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("shared")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the caller's settings from fixtures of any scope."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SHRAG_")]:
            patch.delenv(name)
        patch.setenv("SHRAG_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def _own_home(
    _no_settings_of_the_user: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give each test an empty home."""
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real corpora, topics and judgements."""
    return _shared("data")


@pytest.fixture(scope="session")
def shared_golden() -> Path:
    """Return the folder of what a real Elasticsearch made of them."""
    return _shared("golden")


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("shared evaluation data not present beside the checkout")
    return folder
