"""What the page weighs, how soon it is there, and that it does not jump; lists as long as the page allows."""

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH
from tests.server.page.browser import PHONE, WIDE, Reader
from tests.server.page.walking import address, answered, in_both_languages, settled

MOST_BYTES = 100_000
MOST_SHIFT = 0.05
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput)
      window.shifts.push([entry.value, ...entry.sources.map(({ node }) => node?.id || node?.className)]);
}).observe({ type: "layout-shift", buffered: true });
"""
SIZES = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ name }) => !name.includes("/api/")).map(({ name, decodedBodySize }) => [name, decodedBodySize])
"""


def opened(reader: Reader, path: str, **options) -> Page:
    page = reader.context(**options).new_page()
    page.add_init_script(WATCH_SHIFTS)
    page.goto(path)
    return page


def assert_still(page: Page) -> None:
    shifts = page.evaluate("window.shifts")
    assert sum(shift[0] for shift in shifts) < MOST_SHIFT, shifts


@pytest.mark.parametrize("path", ["/", address(ENGLISH)])
@in_both_languages
def test_the_first_view_is_light(reader, language, path):
    page = opened(reader, path, language=language)
    expect(page.locator("#examples button, #hits > li").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    sizes = dict(page.evaluate(SIZES))
    assert all(size > 0 for size in sizes.values())
    assert sum(sizes.values()) <= MOST_BYTES, sizes


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
@in_both_languages
def test_the_start_a_search_and_an_answer_do_not_jump(reader, language, viewport):
    page = opened(reader, "/", language=language, viewport=viewport)
    expect(page.locator("#examples button")).to_have_count(3)
    assert_still(page)
    page = opened(reader, address(ENGLISH, ask=1), language=language, viewport=viewport)
    answered(page)
    settled(page)
    page.wait_for_load_state("networkidle")
    assert_still(page)
