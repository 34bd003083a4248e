"""Servers of the sample: as a process of a session (`served`), and within this process (`client`)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.generator.sample_index import NAME, sample_home
from tests.server.running import NO_LIMITS, UNLIMITED, Served, application, copy_of, serving

__all__ = ["NAME", "sample_home"]


@pytest.fixture(scope="session")
def served(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `shrag serve` on the sample: without keys, without a model; `served.url` is where."""
    with serving(sample_home, tmp_path_factory.mktemp("served") / "log") as server:
        yield server


@pytest.fixture
def home(sample_home: Path, tmp_path: Path) -> Path:
    """Return a home of the test's own that holds the sample."""
    return copy_of(sample_home, tmp_path / "home")


@pytest.fixture(scope="module")
def shared_home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home of a file's tests that holds the sample, also as the index `other`."""
    return copy_of(sample_home, tmp_path_factory.mktemp("home"), "other")


@pytest.fixture(scope="session")
def unlimited(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `shrag serve` on the sample, which lets everybody in as often as they come."""
    log = tmp_path_factory.mktemp("unlimited") / "log"
    with serving(sample_home, log, **NO_LIMITS, server__waiting=100) as server:
        yield server


@pytest.fixture(scope="module")
def api(sample_home: Path) -> Iterator[TestClient]:
    """Run the application on the sample in this process, once for all tests of a file, without limits."""
    with application(sample_home, **UNLIMITED) as client:
        yield client
