"""Chromium on the page of a server of the sample."""

from collections.abc import Iterator
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
def reader(browser: Browser, unlimited: Served) -> Iterator[Reader]:
    """Read the page; afterwards nothing has gone wrong that the test did not expect."""
    reader = Reader(browser, unlimited.url)
    yield reader
    reader.close()
