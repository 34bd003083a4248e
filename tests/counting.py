"""Counts what the tests tried, by kind, and prints one table of it at the end of a run.

A test asks for the fixture `tried` and calls it as it goes: `tried("inputs")`, `tried("damages", 3)`. Each
test of a file with `faults` in its name is one fault of a server.
Processes of pytest-xdist hand their counts to the one that prints.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

COUNTS = pytest.StashKey[Counter[str]]()
SENT = "tried"  # the key in what a process of pytest-xdist sends at its end


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()


@pytest.fixture(scope="session")
def tried(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Return a function of a kind (inputs, damages, faults, kills) and how many more of it were tried."""
    counts = pytestconfig.stash[COUNTS]

    def count(kind: str, number: int = 1) -> None:
        counts[kind] += number

    return count


def pytest_runtest_call(item: pytest.Item) -> None:
    if "faults" in item.path.stem:
        item.config.stash[COUNTS]["faults"] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        counts = session.config.stash[COUNTS]
        session.config.workeroutput[SENT] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    config: pytest.Config = node.config
    config.stash[COUNTS].update(getattr(node, "workeroutput", {}).get(SENT, {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if counts := config.stash[COUNTS]:
        terminalreporter.section("tried")
        width = max(map(len, counts))
        for kind in sorted(counts):
            terminalreporter.write_line(f"{kind:<{width}}  {counts[kind]:>7,}")
