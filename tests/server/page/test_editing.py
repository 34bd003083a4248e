"""What a reader changes of a search: keywords, queries, limits; each change tells what came of it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH
from tests.server.page.walking import HOW, address, documents, hits, in_both_languages, keywords, settled


def chip(page: Page, word: str):
    return page.locator(f'[data-keyword="{word}"]')


@pytest.fixture
def page(reader):
    page = reader.open(address(ENGLISH) + HOW)
    settled(page)
    return page


def wait_for_keywords(page: Page, wanted: list[str]) -> None:
    page.wait_for_function(
        """wanted => wanted.join("|") === [...document.querySelectorAll("[data-keyword]")]
            .map((chip) => chip.dataset.keyword).join("|")""",
        arg=wanted,
    )
    settled(page)


@in_both_languages
def test_a_keyword_is_moved_by_the_keyboard_and_the_focus_stays_with_it(reader, language):
    page = reader.open(address(ENGLISH) + HOW, language=language)
    settled(page)
    first, second, *rest = keywords(page)
    down = chip(page, first).get_by_role("button").nth(1)
    down.focus()
    down.press("Enter")
    wait_for_keywords(page, [second, first, *rest])
    expect(page.locator("[data-came]")).to_be_visible()
    expect(chip(page, first).get_by_role("button").nth(1)).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    wait_for_keywords(page, [first, second, *rest])
    expect(page.locator("#status")).to_contain_text(first)
    page.go_back()
    wait_for_keywords(page, [second, first, *rest])


def test_a_keyword_is_dragged(page):
    words = keywords(page)
    handle = chip(page, words[0]).locator(".handle").bounding_box()
    third = chip(page, words[2]).bounding_box()
    page.mouse.move(handle["x"] + 3, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(handle["x"] + 3, handle["y"] + 30, steps=3)
    page.mouse.move(handle["x"] + 3, third["y"] + third["height"] - 2, steps=5)
    page.mouse.up()
    wait_for_keywords(page, [words[1], words[2], words[0], *words[3:]])


def test_a_drag_is_given_up_by_escape(page):
    words, address_before = keywords(page), page.url
    handle = chip(page, words[0]).locator(".handle").bounding_box()
    third = chip(page, words[2]).bounding_box()
    page.mouse.move(handle["x"] + 3, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(handle["x"] + 3, third["y"] + third["height"] - 2, steps=5)
    expect(page.locator(".dragged")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".dragged, .target, .target-last")).to_have_count(0)
    page.mouse.up()
    assert (keywords(page), page.url) == (words, address_before)


def test_that_no_keyword_is_left_stands_in_the_address(page):
    for _ in keywords(page):
        count = len(keywords(page))
        page.locator("[data-keyword]").first.get_by_role("button").last.click()
        expect(page.locator("[data-keyword]")).to_have_count(count - 1)
    page.reload()
    settled(page)
    assert keywords(page) == []


def test_keywords_are_removed_added_and_restored(page):
    words = keywords(page)
    before = documents(page)
    chip(page, words[0]).get_by_role("button").last.click()
    wait_for_keywords(page, words[1:])
    page.locator('[data-key="add"]').fill("aerogel")
    page.locator('[data-key="add"]').press("Enter")
    wait_for_keywords(page, [*words[1:], "aerogel"])
    address_of_edit = page.url
    chip(page, "aerogel").get_by_role("button").last.focus()
    page.keyboard.press("Delete")
    wait_for_keywords(page, words[1:])
    page.locator('[data-key="restore"]').click()
    wait_for_keywords(page, words)
    assert documents(page) == before
    page.goto(address_of_edit)
    wait_for_keywords(page, [*words[1:], "aerogel"])


def test_what_came_and_went_is_told_and_adds_up(page):
    before = documents(page)
    words = keywords(page)
    page.locator('[data-key="add"]').fill("methane")
    page.locator('[data-key="add"]').press("Enter")
    wait_for_keywords(page, [*words[:9], "methane"])  # there are ten queries
    changes = page.locator("[data-came]")
    now = documents(page)
    assert int(changes.get_attribute("data-came")) == len(set(now) - set(before))
    assert int(changes.get_attribute("data-went")) == len(set(before) - set(now))
    assert page.locator('[data-change="came"]').count() == len(set(now) - set(before))


@in_both_languages
def test_a_query_is_left_out_and_taken_in_again(reader, language):
    page = reader.open(address(ENGLISH) + HOW, language=language)
    settled(page)
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


def test_queries_are_shown_as_they_were_sent(page):
    page.locator('[data-key="expressions"]').click()
    expect(page.locator("[data-query] .sent").first).to_have_text(re.compile(r"\w"))


@pytest.mark.parametrize(
    ("question", "without"),
    [
        ("배터리 열폭주를 늦추는 방법은? 나트륨 제외, 2020년 이후 논문", ["나트륨", "2020"]),
        (
            "How can thermal runaway in a battery pack be slowed, excluding sodium, in papers since 2020?",
            ["sodium", "2020"],
        ),
    ],
)
def test_what_a_question_leaves_out_is_a_tag_that_can_be_dropped(reader, question, without):
    page = reader.open(address(question))
    settled(page)
    tags = page.locator("[data-constraint]")
    expect(tags).to_have_count(2)
    for word in without:
        tag = tags.filter(has_text=word)
        expect(tag).to_have_count(1)
        tag.get_by_role("button").click()
        expect(tag).to_have_count(0)
        settled(page)
        assert word not in page.locator("#question").input_value()
    expect(hits(page).first).to_be_visible()


def test_terms_given_beside_the_question_are_left_out(reader):
    page = reader.open(address(ENGLISH, **{"not": ["sodium", "나트륨"]}))
    settled(page)
    expect(page.locator("[data-constraint]")).to_have_count(2)
    page.locator("[data-constraint]", has_text="sodium").get_by_role("button").click()
    expect(page.locator("[data-constraint]")).to_have_count(1)
    expect(page.locator("#exclude")).to_have_value("나트륨")
