"""Debian's Chromium on the page of a server of the sample."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.server.running import Served

CHROMIUM = shutil.which("chromium") or ""
FAILURES_SHOWN = 5


@pytest.fixture(scope="module")  # while Playwright runs, no other event loop can begin in this thread
def browser() -> Iterator[Browser]:
    """Start Chromium, once for a file of tests."""
    if not CHROMIUM:
        if os.environ.get("SHRAG_REQUIRE_SERVICES"):
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def _is_complaint(message: ConsoleMessage) -> bool:
    """Tell what the browser complains of from answers that are errors, which it lists too."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")


@pytest.fixture(params=["ko-KR", "en-US"])
def page(request: pytest.FixtureRequest, browser: Browser, served: Served) -> Iterator[Page]:
    """Open a page of the server in a fresh profile; what the browser complains of fails the test."""
    locale = getattr(request, "param", "en-US")
    context = browser.new_context(base_url=served.url, locale=locale, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((served.url, "data:", "blob:")) else complaints.append(asked.url)
        ),
    )
    yield page
    context.close()
    assert complaints[:FAILURES_SHOWN] == []
