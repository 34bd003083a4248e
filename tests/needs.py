"""Marks of what a test needs beyond the small environment of `make quick`.

A test gets a mark by its folder or by a fixture that it uses; otherwise it has the mark itself, as in
`@pytest.mark.needs_models`. `-m "not needs_models"` leaves such tests out; a folder that is left out is not
read, because its files import what may not be installed.
"""

import re
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
NEEDS = {
    "needs_services": "Elasticsearch or vLLM: make test-services",
    "needs_page": "playwright and Chromium: make test-page",
    "needs_models": "torch, transformers, sentence-transformers: make test-models",
    "needs_libraries": "datasets, huggingface-hub, matplotlib, pyarrow, schemathesis or tokenizers: "
    "make test-others",
    "shared": "shared evaluation data",
    "slow": "more than a few seconds: make test-others",
}
FOLDERS = {"needs_services": TESTS / "service", "needs_page": TESTS / "server" / "page"}
FIXTURES = {
    "needs_models": {"library", "gte", "bert"},
    "needs_libraries": {"datasets"},
    "shared": {"shared_data", "shared_golden"},
}


def mostly_slow(values: Iterable[Any], *, quick: Container[Any]) -> list[Any]:
    """Return the values of a parameter; those that are not quick carry the mark `slow`."""
    return [value if value in quick else _marked(value, pytest.mark.slow) for value in values]


def mostly_nightly(values: Iterable[Any], *, by_day: Container[Any]) -> list[Any]:
    """Return the values of a parameter; those that do not run by day carry the mark `nightly`."""
    return [value if value in by_day else _marked(value, pytest.mark.nightly) for value in values]


def _marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=mark)


def pytest_configure(config: pytest.Config) -> None:
    for mark, what in NEEDS.items():
        config.addinivalue_line("markers", f"{mark}: needs {what}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    for mark, folder in FOLDERS.items():
        if collection_path == folder and re.search(rf"\bnot {mark}\b", config.getoption("markexpr")):
            return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the marks of folders and fixtures, before pytest selects by them."""
    for item in items:
        for mark, folder in FOLDERS.items():
            if item.path.is_relative_to(folder):
                item.add_marker(mark)
        for mark, fixtures in FIXTURES.items():
            if fixtures.intersection(getattr(item, "fixturenames", ())):
                item.add_marker(mark)
