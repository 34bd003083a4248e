"""What a reader changes of a search: the strategy, queries, filters; each change tells what came of it."""

import re

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.generator.sample_index import ENGLISH
from tests.server.page.walking import (
    HOW,
    address,
    documents,
    in_both_languages,
    keywords,
    settled,
    shown,
)

CONDITIONS = "[data-condition]"
WITH_CONDITIONS = [
    ("배터리 열폭주를 늦추는 방법은? 냉각판 제외하고", "냉각판"),
    ("How can thermal runaway in a battery pack be slowed since 2020?", "2020–"),
]


def texts_in(page: Page, language: str) -> list[str]:
    return page.locator(f'.chips .text[lang="{language}"]').all_inner_texts()


def word_of(page: Page, word: str):
    return page.locator(f'[data-keyword="{word}"]').get_by_role("button").first


def origin(page: Page) -> str | None:
    return page.locator("[data-origin]").get_attribute("data-origin")


def wait_for_keywords(page: Page, wanted: list[str]) -> None:
    expect(page.locator("[data-keyword] .text")).to_have_text(wanted)
    settled(page)


@in_both_languages
def test_keywords_are_added_moved_by_keys_removed_and_restored_and_the_address_finds_them(reader, language):
    page = shown(reader, address(ENGLISH), language=language)
    words, before = keywords(page), documents(page)
    korean, english = (texts_in(page, each) for each in ("ko", "en"))
    page.locator('[data-key="add"]').fill("aerogel")
    page.locator('[data-key="add"]').press("Enter")
    added = [*korean, "aerogel", *english]
    wait_for_keywords(page, added)
    expect(page.locator('[data-key="add"]')).to_be_focused()
    found = documents(page)
    changes = page.locator("[data-came]")
    expect(changes).to_have_attribute("data-came", str(len({*found} - {*before})))
    expect(changes).to_have_attribute("data-went", str(len({*before} - {*found})))

    again = reader.open(page.url.removeprefix(reader.url), language="ko")
    wait_for_keywords(again, added)
    assert (documents(again), origin(again)) == (found, "person")

    word_of(page, "aerogel").press("ArrowRight")
    moved = [*korean, english[0], "aerogel", *english[1:]]
    wait_for_keywords(page, moved)
    expect(word_of(page, "aerogel")).to_be_focused()
    expect(page.locator("#status")).to_contain_text("aerogel")
    word_of(page, "aerogel").press("Enter")
    forward = page.locator('[data-key="move_up:en:aerogel"]')
    forward.focus()
    forward.press("Enter")
    wait_for_keywords(page, added)
    expect(forward).to_be_focused()
    page.go_back()
    wait_for_keywords(page, moved)

    word_of(page, "aerogel").press("Delete")
    wait_for_keywords(page, [*korean, *english])
    page.locator('[data-key="restore"]').click()
    wait_for_keywords(page, words)
    assert (documents(page), origin(page)) == (before, "statistics")
    expect(page).not_to_have_url(re.compile("strategy="))


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


def test_one_of_several_filters_of_a_question_is_removed(reader):
    page = shown(reader, address('battery "thermal runaway" "heat" year:2010..'))
    conditions = page.locator(CONDITIONS)
    expect(conditions).to_have_text(['year:"2010.."✕', "“thermal runaway”✕", "“heat”✕"])
    conditions.nth(1).get_by_role("button").click()
    expect(page.locator("#question")).to_have_value('battery thermal runaway "heat" year:2010..')
    expect(conditions).to_have_text(['year:"2010.."✕', "“heat”✕"])
    conditions.first.get_by_role("button").click()
    expect(page.locator("#question")).to_have_value('battery thermal runaway "heat"')
    expect(conditions).to_have_text(["“heat”✕"])


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


# Korean is composed in the field by the browser's own input method calls, syllable by syllable.
PROCESSED = {"windowsVirtualKeyCode": 229, "nativeVirtualKeyCode": 229}


def press(method: CDPSession, key: str, code: str, text: str = "") -> None:
    """Press a key that the input method takes; then a text stands in the field that is not certain yet."""
    pressed = {"key": key, "code": code, **PROCESSED}
    method.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **pressed})
    if text:
        place = {"selectionStart": len(text), "selectionEnd": len(text)}
        method.send("Input.imeSetComposition", {"text": text, **place})
    method.send("Input.dispatchKeyEvent", {"type": "keyUp", **pressed})


@pytest.mark.parametrize(
    ("path", "field", "taken"),
    [
        ("/", "#question", "#hits > li"),
        (address("배터리 열폭주"), '[data-key="add"]', '[data-keyword="간호사"]'),
    ],
    ids=["question", "keyword"],
)
def test_enter_while_a_syllable_is_composed_sends_nothing_and_loses_nothing(reader, path, field, taken):
    page = reader.open(path)
    if path != "/":
        settled(page)
    sent: list[str] = []
    page.on(
        "request",
        lambda request: sent.append(request.post_data or "") if "/api/v1/search" in request.url else None,
    )
    text = page.locator(field)
    text.focus()
    method = page.context.new_cdp_session(page)
    for stages in (("ㄱ", "가", "간"), ("ㅎ", "호"), ("ㅅ", "사")):
        for stage in stages:
            press(method, "Process", "KeyA", stage)
        if stages[-1] == "사":
            press(method, "Enter", "Enter")
            expect(text).to_have_value("간호사")
            assert sent == []
        method.send("Input.insertText", {"text": stages[-1]})  # makes it certain
    expect(text).to_have_value("간호사")

    text.press("Enter")
    expect(page.locator(taken).first).to_be_visible()
    settled(page)
    assert len(sent) == 1
    assert "간호사" in sent[0]
