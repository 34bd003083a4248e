"""The page by keyboard, screen reader, large print: axe's rules, and KWCAG 2.2 where it can be checked."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, UNANSWERABLE_KOREAN
from tests.server.page.browser import findings
from tests.server.page.walking import (
    QUESTIONS,
    address,
    in_both_languages,
    shown,
)

# Of each view that no other test ends with: the address, and what is shown there.
VIEWS = {
    "start": ("/", "#examples button"),
    "abstained": (address(UNANSWERABLE_KOREAN, ask=1), "[data-abstained], #answer-body .colophon > p"),
    "nothing": (address("zqxjv blorptag"), "[data-nothing] q:text-is('zqxjv') ~ q:text-is('blorptag')"),
    "operator": ("/operator", '[data-status="indexes"] :text("sample")'),
    "missing": ("/nothing-here", "h1"),
}


@pytest.mark.parametrize("view", VIEWS)
@in_both_languages
def test_axe_finds_nothing_serious_in_light_or_dark(reader, view, language):
    reader.expect_error("status of 404")
    path, there = VIEWS[view]
    page = reader.open(path, language=language, bypass_csp=True, reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("lang", language)
    for part in there.split(", "):
        expect(page.locator(part).first).to_be_visible()
    assert findings(page) == []


# KWCAG 2.2 (the Korean standard), by the numbers of its items. Not here: those about video, sound, flashing,
# time limits and motion of a device, which the page has none of, and those that a person must judge.


def outlined(page: Page) -> list[dict[str, Any]]:
    """Go through the page by Tab; return what had the focus, in order, until it is back at the beginning."""
    seen = []
    for _ in range(400):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => {
              const element = document.activeElement;
              if (element === document.body) return null;
              const known = (window.order ??= new Map());
              const again = known.has(element);
              known.set(element, true);
              const { outlineStyle, outlineWidth } = getComputedStyle(element);
              const box = element.getBoundingClientRect();
              return { again, name: element.id || element.dataset.key || element.textContent.slice(0, 40),
                outlined: outlineStyle !== "none" && parseFloat(outlineWidth) > 0,
                seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight
                  && box.right > 0 && box.left < innerWidth };
            }"""
        )
        if here is None or here["again"]:
            break
        seen.append(here)
    return seen


@pytest.fixture(params=["ko", "en"])
def answer_page(reader, request):
    page = shown(reader, address(QUESTIONS[request.param], ask=1), language=request.param)
    page.locator("#open-how").evaluate("button => button.click()")  # without the focus
    expect(page.locator("[data-query]").first).to_be_visible()
    return page


def test_6_1_1_and_6_1_2_and_8_2_1_all_is_reached_by_the_keyboard_and_the_focus_is_seen(answer_page):
    answer_page.locator("body").evaluate("body => { document.activeElement.blur(); body.focus(); }")
    seen = outlined(answer_page)
    names = [each["name"] for each in seen]
    assert len(seen) > 60
    wanted = "question open-how ask sort options-toggle open-marked open-history open-record theme add export"
    assert set(wanted.split()) <= set(names)
    assert [each["name"] for each in seen if not each["outlined"]] == []
    assert [each["name"] for each in seen if not each["seen"]] == []
    # 8.2.1: one polite line says what happens.
    assert answer_page.locator("[aria-live=assertive], [role=alert]").count() == 0
    assert answer_page.locator("[role=status]:visible").count() == 1
    count = answer_page.locator("[data-sentence]").count()
    expect(answer_page.locator("[role=status]")).to_contain_text(str(count))


def test_6_1_4_and_6_4_1_no_single_letter_is_a_shortcut_and_blocks_are_skipped(reader):
    page = shown(reader, address(ENGLISH))
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    skip.press("Enter")
    expect(page.locator("#results")).to_be_focused()
    before = page.url
    for key in "abcdefghijklmnopqrstuvwxyz/?.,;":
        page.keyboard.press(key)
    expect(page.locator("#results")).to_be_focused()
    assert page.url == before


@in_both_languages
def test_7_1_1_the_language_is_told_of_the_page_and_of_each_text(reader, language):
    page = shown(reader, address(QUESTIONS[language], ask=1), language=language)
    other = {"ko": r"^[\sA-Za-z,.'-]{25,}$", "en": r"^[^A-Za-z]*[가-힣]"}[language]
    untold = page.evaluate(
        """([pattern, own]) => {
          const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode()) {
            const { data, parentElement } = walker.currentNode;
            if (new RegExp(pattern).test(data) && parentElement.closest("[lang]").lang === own
                && !parentElement.closest(".meta, pre, .sent"))
              found.push(data);
          }
          return found;
        }""",
        [other, language],
    )
    assert untold == []


def test_a_dialog_keeps_the_focus_until_escape_gives_it_back(reader):
    page = shown(reader, address(ENGLISH))
    for name in ("#open-marked", "#open-history", "#open-record"):
        button, dialog = page.locator(name), page.get_by_role("dialog")
        button.focus()
        page.keyboard.press("Enter")
        expect(dialog).to_have_accessible_name(button.inner_text().strip())
        for _ in range(12):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )
        page.keyboard.press("Escape")
        expect(button).to_be_focused()
