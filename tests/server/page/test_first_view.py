"""What the page weighs, how soon it is there, and that it does not jump; lists as long as the page allows."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, shrag
from tests.indexer.made_corpora import paper, write_jsonl
from tests.server.page.browser import NO_LIMITS, PHONE, WIDE, Reader
from tests.server.page.walking import address, answered, hits, in_both_languages, settled
from tests.server.running import serving

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


def test_the_first_view_waits_for_no_answer_of_the_server(reader):
    page = reader.context().new_page()
    page.route("**/api/**", lambda _: None)
    page.goto("/")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    expect(page.locator("#question")).to_be_focused()


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


def test_a_visit_later_asks_for_no_file_again(reader):
    page = opened(reader, "/")
    expect(page.locator("#examples button")).to_have_count(3)
    page.wait_for_load_state("networkidle")
    page.goto("/")
    expect(page.locator("#examples button")).to_have_count(3)
    sent = page.evaluate(
        "performance.getEntriesByType('resource').filter(({ name, transferSize }) =>"
        " name.includes('/page/') && transferSize > 0).map(({ name }) => name)"
    )
    assert sent == []


@pytest.fixture(scope="module")
def long_server(tmp_path_factory):
    home: Path = tmp_path_factory.mktemp("long")
    papers = [
        json.loads(json.dumps(paper(number))) | {"abstract": f"{paper(number)['abstract']} tide"}
        for number in range(1_200)
    ]
    done = shrag("index", str(write_jsonl(home / "papers.jsonl", papers)), "--name", "long", home=home)
    assert done.returncode == 0, done.stderr
    with serving(home, home / "log", **NO_LIMITS) as server:
        yield server


@pytest.mark.nightly
def test_a_thousand_results_can_be_read(browser, long_server):
    reader = Reader(browser, long_server.url)
    page = opened(reader, address("tide", k=1000))
    expect(hits(page)).to_have_count(1000)
    settled(page)
    hits(page).last.locator("[data-mark]").check()
    expect(page.locator("#marked-count")).to_have_text("1")
    page.locator("#question").press("End")
    page.evaluate(
        """() => {
          window.changes = 0;
          const watching = new MutationObserver((all) => { window.changes += all.length; });
          const all = { attributes: true, childList: true, characterData: true, subtree: true };
          watching.observe(document.getElementById("results"), all);
        }"""
    )
    page.locator("#question").press_sequentially("of the sea")
    assert page.evaluate("window.changes") == 0  # a key is not slower than where there is one result
    assert_still(page)
    reader.close()
