"""Marks of what a test needs beyond the small environment of `make quick`, and a table of what was left out.

A test gets a mark by its folder or by a fixture that it asks for; otherwise it carries the mark itself, as in
`@pytest.mark.needs_models`. `-m "not needs_models"` leaves such tests out; a folder that is left out is not
read. The end of a run says how many tests were left out, and why.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
LEFT_OUT = pytest.StashKey[Counter[str]]()
SENT = "left out"  # the key in what a process of pytest-xdist sends at its end
TEST = re.compile(r"^ *(?:async )?def test_", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Need:
    """What is needed, and which tests get the mark without carrying it."""

    what: str
    folder: str = ""  # below tests/
    fixtures: frozenset[str] = frozenset()


NEEDS = {
    "needs_services": Need("Elasticsearch or vLLM: make test-services", folder="service"),
    "needs_page": Need("playwright and Chromium: make test-page", folder="server/page"),
    "needs_models": Need(
        "torch, transformers, sentence-transformers: make test-models",
        fixtures=frozenset({"library", "gte", "bert"}),
    ),
    "needs_libraries": Need(
        "datasets, huggingface-hub, matplotlib, pyarrow, schemathesis or tokenizers: make test-others",
        fixtures=frozenset({"datasets"}),
    ),
    "shared": Need("shared evaluation data", fixtures=frozenset({"shared_data", "shared_golden"})),
    "slow": Need("more than a few seconds: make test-others"),
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
    config.stash[LEFT_OUT] = Counter()
    for mark, need in NEEDS.items():
        config.addinivalue_line("markers", f"{mark}: needs {need.what}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a folder unread whose mark `-m` excludes: its files import what may not be installed."""
    for mark, need in NEEDS.items():
        if need.folder and collection_path == TESTS / need.folder and excluded(mark, config):
            texts = (path.read_text("utf-8") for path in collection_path.rglob("test_*.py"))
            config.stash[LEFT_OUT][mark] += sum(len(TEST.findall(text)) for text in texts)
            return True
    return None


def excluded(mark: str, config: pytest.Config) -> bool:
    """Tell whether `-m` holds "not MARK"."""
    return re.search(rf"\bnot {mark}\b", config.getoption("markexpr")) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the marks of folders and fixtures, before pytest selects by them."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for mark, need in NEEDS.items():
            in_folder = need.folder and item.path.is_relative_to(TESTS / need.folder)
            if in_folder or need.fixtures.intersection(fixtures):
                item.add_marker(mark)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count each test by the first of its marks that `-m` excludes."""
    for item in items:
        marks = (mark for mark in NEEDS if item.get_closest_marker(mark) and excluded(mark, item.config))
        if mark := next(marks, None):
            item.config.stash[LEFT_OUT][mark] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        left_out = session.config.stash[LEFT_OUT]
        session.config.workeroutput[SENT] = dict(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the counts of a process: each process collects, and so leaves out, the same tests."""
    config: pytest.Config = node.config
    left_out = config.stash[LEFT_OUT]
    left_out |= Counter(getattr(node, "workeroutput", {}).get(SENT, {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash[LEFT_OUT]:
        terminalreporter.section("left out")
        for mark in (mark for mark in NEEDS if left_out[mark]):
            terminalreporter.write_line(f"{mark:<16} {left_out[mark]:>6,}  {NEEDS[mark].what}")
