"""Servers of the sample: as a process of a session (`served`), and within this process (`client`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.generator.sample_index import NAME, sample_home
from tests.server.running import Served, application, serving

__all__ = ["NAME", "sample_home"]


@pytest.fixture(scope="session")
def served(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `shrag serve` on the sample: without keys, without a model; `served.url` is where."""
    with serving(sample_home, tmp_path_factory.mktemp("served") / "log") as server:
        yield server


@pytest.fixture
def home(sample_home: Path, tmp_path: Path) -> Path:
    """Return a home of the test's own that holds the sample."""
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    return home


@pytest.fixture
def client(sample_home: Path) -> Iterator[TestClient]:
    """Run the application on the sample in this process; it is called without a network."""
    with application(sample_home) as client:
        yield client


# Servers of tests that call more often than one reader may.
UNLIMITED: dict[str, Any] = {f"{work}_per_minute": 0 for work in ("searches", "asks", "reads")}


@pytest.fixture(scope="session")
def unlimited(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `shrag serve` on the sample, which lets everybody in as often as they come."""
    limits = {f"server__{name}": value for name, value in UNLIMITED.items()} | {"server__waiting": 100}
    with serving(sample_home, tmp_path_factory.mktemp("unlimited") / "log", **limits) as server:
        yield server


@pytest.fixture(scope="module")
def api(sample_home: Path) -> Iterator[TestClient]:
    """Run the application on the sample in this process, once for all tests of a file, without limits."""
    with application(sample_home, **UNLIMITED) as client:
        yield client
