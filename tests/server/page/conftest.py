"""Chromium on the page of a server of the sample."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.server.page.browser import Reader, chromium
from tests.server.running import Served


# Of a file, not of the session: while it runs, no other test of the process can use asyncio.run.
@pytest.fixture(scope="module")
def browser(sample_home: Path) -> Iterator[Browser]:
    """Run Chromium; what is indexed in this process is indexed before."""
    del sample_home
    with chromium() as browser:
        yield browser


@pytest.fixture
def reading(browser: Browser) -> Iterator[Callable[[Served], Reader]]:
    """Return what reads the page of a server; afterwards nothing unexpected has gone wrong there."""
    readers: list[Reader] = []

    def read(server: Served) -> Reader:
        readers.append(Reader(browser, server.url))
        return readers[-1]

    yield read
    for reader in readers:
        reader.close()


@pytest.fixture
def reader(reading: Callable[[Served], Reader], unlimited: Served) -> Reader:
    """Read the page of the sample without limits."""
    return reading(unlimited)
