"""What a reader changes of a search: the strategy, queries, filters; each change tells what came of it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.page.walking import (
    HOW,
    address,
    documents,
    hits,
    in_both_languages,
    keywords,
    settled,
    shown,
)

CONDITIONS = "[data-condition]"
WITH_CONDITIONS = [
    ("배터리 열폭주를 늦추는 방법은? 냉각판 제외하고", "냉각판"),
    ("How can thermal runaway in a battery pack be slowed, excluding cooling plates?", "cooling plates"),
    ("How can thermal runaway in a battery pack be slowed since 2020?", "2020–"),
]


def chip(page: Page, word: str):
    return page.locator(f'[data-keyword="{word}"]')


def word_of(page: Page, word: str):
    return chip(page, word).get_by_role("button").first


def add(page: Page, word: str) -> list[str]:
    """Add an English keyword; return the keywords with it, the first in its language."""
    korean, english = (
        page.locator(f'.chips .text[lang="{each}"]').all_inner_texts() for each in ("ko", "en")
    )
    page.locator('[data-key="add"]').fill(word)
    page.locator('[data-key="add"]').press("Enter")
    wanted = [*korean, word, *english]
    wait_for_keywords(page, wanted)
    return wanted


def origin(page: Page) -> str | None:
    return page.locator("[data-origin]").get_attribute("data-origin")


def wait_for_keywords(page: Page, wanted: list[str]) -> None:
    expect(page.locator("[data-keyword] .text")).to_have_text(wanted)
    settled(page)


def test_an_added_keyword_finds_papers_about_it_says_what_came_and_its_address_finds_them_again(reader):
    page = shown(reader, address(KOREAN))
    before = set(documents(page))
    words = add(page, "aerogel")
    expect(page.locator('[data-key="add"]')).to_be_focused()
    expect(hits(page).filter(has_text=re.compile("aerogel", re.IGNORECASE)).first).to_be_visible()
    found = documents(page)
    changes = page.locator("[data-came]")
    expect(changes).to_have_attribute("data-came", str(len({*found} - before)))
    expect(changes).to_have_attribute("data-went", str(len(before - {*found})))
    expect(page.locator('[data-change="came"]')).to_have_count(len({*found} - before))

    again = reader.open(page.url.removeprefix(reader.url), language="ko")
    wait_for_keywords(again, words)
    assert documents(again) == found
    assert origin(again) == "person"


def test_keywords_are_removed_by_a_key_and_restored(reader):
    page = shown(reader, address(ENGLISH))
    words, before = keywords(page), documents(page)
    word_of(page, words[0]).press("Delete")
    wait_for_keywords(page, words[1:])
    page.locator('[data-key="restore"]').click()
    wait_for_keywords(page, words)
    assert (documents(page), origin(page)) == (before, "statistics")
    expect(page).not_to_have_url(re.compile("strategy="))


@in_both_languages
def test_a_keyword_is_moved_by_keys_and_buttons_and_the_focus_stays_with_it(reader, language):
    page = shown(reader, address(ENGLISH), language=language)
    first, second, *rest = page.locator('.chips .text[lang="en"]').all_inner_texts()
    others = [word for word in keywords(page) if word not in {first, second, *rest}]
    word_of(page, first).press("ArrowRight")
    wait_for_keywords(page, [*others, second, first, *rest])
    expect(word_of(page, first)).to_be_focused()
    expect(page.locator("#status")).to_contain_text(first)

    word_of(page, first).press("Enter")
    forward = page.locator(f'[data-key="move_up:en:{first}"]')
    forward.focus()
    forward.press("Enter")
    wait_for_keywords(page, [*others, first, second, *rest])
    expect(forward).to_be_focused()
    page.go_back()
    wait_for_keywords(page, [*others, second, first, *rest])


@pytest.mark.parametrize(("question", "named"), WITH_CONDITIONS)
def test_a_condition_of_a_question_is_shown_and_stays_removed(reader, question, named):
    page = shown(reader, address(question))
    before = documents(page)
    condition = page.locator(CONDITIONS)
    expect(condition).to_have_count(1)
    expect(condition).to_contain_text(named)
    condition.get_by_role("button").click()
    expect(condition).to_have_count(0)
    settled(page)
    assert documents(page) != before
    expect(page.locator("#question")).to_have_value(question)
    for again in (lambda: page.locator("#question").press("Enter"), page.reload):
        again()
        settled(page)
        expect(condition).to_have_count(0)


@in_both_languages
def test_a_query_is_left_out_and_taken_in_again(reader, language):
    page = shown(reader, address(ENGLISH) + HOW, language=language)
    bars = page.locator("[data-query]")
    names = bars.evaluate_all("bars => bars.map((bar) => bar.dataset.query)")
    assert len(names) > 2
    for bar in bars.all():
        expect(bar.get_by_role("checkbox")).to_have_accessible_name(re.compile(r"\d"))
    left = page.locator(f'[data-query="{names[1]}"]').get_by_role("checkbox")
    left.focus()
    left.press("Space")
    expect(left).not_to_be_checked()
    expect(page).to_have_url(re.compile(f"skip={names[1]}"))
    settled(page)
    expect(left).to_be_focused()
    page.reload()
    expect(left).not_to_be_checked()
    left.check()
    expect(page).not_to_have_url(re.compile("skip="))
    expect(left).to_be_checked()
