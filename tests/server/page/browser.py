"""A reader with Debian's Chromium, who notices what a page must not do; and the rules of axe."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

REQUIRED = os.environ.get("SHRAG_REQUIRE_SERVICES") == "1"  # before the settings of the user are hidden
PROGRAMS = ("chromium-headless-shell", "chromium")  # the first is the lighter one
LOCALES = {"ko": "ko-KR", "en": "en-GB"}
WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 60_000  # a loaded machine's

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SERIOUS = {"serious", "critical"}
NOT_BY_DEFAULT = {name: {"enabled": True} for name in ("label-content-name-mismatch", "target-size")}

expect.set_options(timeout=WAIT_MS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium until the end of the block; without one the test is skipped, or fails where all run."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        reason = f"{' or '.join(PROGRAMS)} is not installed"
        pytest.fail(f"{reason} (SHRAG_REQUIRE_SERVICES=1)") if REQUIRED else pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=2 * WAIT_MS
        )
        try:
            yield browser
        finally:
            browser.close()


def ready(page: Page) -> None:
    """Wait until the page's scripts heed what a reader does: then its buttons are enabled."""
    expect(page.locator("#theme:disabled")).to_have_count(0)


@dataclass
class Reader:
    """Opens pages, each in a context of its own, and keeps what they did that no page may do."""

    browser: Browser
    url: str  # of the server, unless a page is opened elsewhere
    expected: list[re.Pattern[str]] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, path: str = "/", *, language: str = "en", script: str = "", **options: Any) -> Page:
        """Open an address in a new context, by a browser of this language; run a script in the page first."""
        page = self.context(language=language, **options).new_page()
        if script:
            page.add_init_script(script)
        page.goto(path)
        ready(page)
        return page

    def context(self, *, language: str = "en", **options: Any) -> BrowserContext:
        """Make a context that is watched: its cookies, its storage, its history are its own."""
        given = {"base_url": self.url, "locale": LOCALES[language], "viewport": WIDE} | options
        context = self.browser.new_context(**given)
        context.set_default_timeout(WAIT_MS)
        self.contexts.append(context)
        host = urlsplit(self.url).netloc

        def asked(address: str) -> None:
            parts = urlsplit(address)
            if parts.scheme not in {"data", "blob"} and parts.netloc != host:
                self.broken.append(f"asked {address}")

        context.on("request", lambda request: asked(request.url))
        context.on("console", lambda message: self._logged(message.text, message.type))
        context.on("weberror", lambda error: self._logged(f"uncaught {error.error}"))
        return context

    def expect_error(self, pattern: str) -> None:
        """Let the browser log such an error: it logs each answer that is none of success."""
        self.expected.append(re.compile(pattern))

    def _logged(self, text: str, kind: str = "error") -> None:
        if kind != "error":
            return
        self.logged.append(text)
        if not any(pattern.search(text) for pattern in self.expected):
            self.broken.append(f"logged {text}")

    def close(self) -> None:
        """Close all pages; fails if one of them did what it must not."""
        for context in self.contexts:
            context.close()
        assert self.broken == [], "\n".join(self.broken)


def findings(page: Page) -> list[str]:
    """Return what axe finds that is serious in either colour scheme, with the elements."""
    if not page.evaluate("window.axe !== undefined"):
        page.evaluate(f"{AXE}; undefined")
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        run = "rules => axe.run(document, { resultTypes: ['violations'], rules })"
        found += page.evaluate(run, NOT_BY_DEFAULT)["violations"]
    return [
        f"{each['id']}: {json.dumps([node['html'] for node in each['nodes']][:4], ensure_ascii=False)}"
        for each in found
        if each["impact"] in SERIOUS
    ]
