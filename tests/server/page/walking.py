"""Steps that many walks through the page begin with."""

from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.page.browser import Reader

QUESTIONS = {"ko": KOREAN, "en": ENGLISH}
in_both_languages = pytest.mark.parametrize("language", ["ko", "en"])


HOW = "#how"  # at the end of an address: with the search process open


def address(question: str, **asked: object) -> str:
    """Return the address that asks this."""
    return f"/?{urlencode({'q': question, **asked}, doseq=True)}"


def hits(page: Page) -> Locator:
    """Return the results."""
    return page.locator("#hits > li")


def documents(page: Page) -> list[str]:
    """Return the ids of the papers that are shown, in order."""
    return list(hits(page).evaluate_all("items => items.map((item) => item.dataset.doc)"))


def keywords(page: Page) -> list[str]:
    """Return the keywords, in order."""
    chips = page.locator("[data-keyword]")
    return list(chips.evaluate_all("chips => chips.map((chip) => chip.dataset.keyword)"))


def settled(page: Page) -> None:
    """Wait until results are shown, and nothing more is searched for."""
    expect(page.locator("#hits > li, [data-nothing], [data-problem]").first).to_be_attached()
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")


def answered(page: Page) -> None:
    """Wait until an answer is complete."""
    expect(page.locator("#answer-body .colophon")).not_to_be_empty()
    expect(page.locator('#answer-body [aria-busy="true"]')).to_have_count(0)


def shown(reader: Reader, path: str, **options: Any) -> Page:
    """Open an address, and wait for its results and its answer."""
    page = reader.open(path, **options)
    if "ask=1" in path:
        answered(page)
    settled(page)
    return page


def search(page: Page, question: str) -> None:
    """Type a question and press Enter."""
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
