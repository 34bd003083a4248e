"""A search on the page: what it shows, what it is narrowed by, and that its address shows the same again."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.page.axe import findings
from tests.server.page.browser import PHONE
from tests.server.page.walking import (
    QUESTIONS,
    address,
    documents,
    hits,
    in_both_languages,
    search,
    settled,
    shown,
)


@in_both_languages
def test_a_question_or_an_example_finds_papers_with_what_was_found_in_them_marked(reader, language):
    page = reader.open(language=language)
    examples = page.locator("#examples button")
    expect(examples).to_have_count(3)
    text = examples.nth(1).inner_text()
    examples.nth(1).click()
    expect(page.locator("#question")).to_have_value(text)
    expect(hits(page).first).to_be_visible()
    search(page, QUESTIONS[language])
    expect(page.locator("#question")).to_have_value(QUESTIONS[language])
    expect(hits(page)).to_have_count(10)
    settled(page)
    for part in ("h3", ".snippet"):
        expect(page.locator(f"#hits {part} mark").first).to_be_visible()
        langs = page.locator(f"#hits {part}").evaluate_all("all => all.map((each) => each.lang)")
        assert set(langs) <= {"ko", "en"}
    expect(page.locator("#hits")).not_to_contain_text("query_")  # every query has its name in the language
    expect(page.locator("#status")).to_contain_text("10")
    assert QUESTIONS[language][:20] in page.title()


def first_is(page: Page, document: str) -> None:
    """Wait until a paper is the first one."""
    expect(hits(page).first).to_have_attribute("data-doc", document)


def test_the_address_opens_the_same_again_for_others_and_on_the_way_back(reader):
    page = reader.open()
    page.locator("#options-toggle").click()
    page.locator("#k").fill("5")
    page.locator("#year").fill("2015..2024")
    page.locator("#exclude").fill("sodium")
    search(page, ENGLISH)
    expect(hits(page)).to_have_count(5)
    first, shown = page.url, documents(page)

    search(page, KOREAN)
    expect(page.locator("#question")).to_have_value(KOREAN)
    expect(hits(page).first).not_to_have_attribute("data-doc", shown[0])
    second, others = page.url, documents(page)
    for move, url, ids in ((page.go_back, first, shown), (page.go_forward, second, others)):
        move()
        first_is(page, ids[0])
        assert (page.url, documents(page)) == (url, ids)
    page.reload()
    settled(page)
    assert documents(page) == others

    copied = reader.open(first.removeprefix(reader.url), language="ko")
    expect(hits(copied)).to_have_count(5)
    assert documents(copied) == shown
    expect(copied.locator("#year")).to_have_value("2015..2024")
    expect(copied.locator("#exclude")).to_have_value("sodium")


@pytest.mark.parametrize(
    ("facet", "option"),
    [("year", "#year"), ("lang", "#lang"), ("journal", "#journal"), ("author", "#author")],
)
def test_a_facet_narrows_the_search_to_as_many_papers_as_it_says(reader, facet, option):
    page = shown(reader, address("battery", k=50))
    before = hits(page).count()
    value = page.locator(f'[data-facet="{facet}"] button:not(:disabled)').last
    said = int(re.findall(r"\d+", value.get_attribute("aria-label") or value.inner_text())[-1])
    value.click()
    expect(page.locator(option)).not_to_have_value("")
    expect(page.locator("[data-condition]")).to_have_count(1)
    expect(hits(page)).to_have_count(said)
    expect(page.locator(f'[data-facet="{facet}"] button[aria-pressed="true"]')).to_have_count(1)
    page.locator("[data-condition] button").click()
    expect(hits(page)).to_have_count(before)
    expect(page.locator(option)).to_have_value("")


@in_both_languages
def test_a_rank_is_explained(reader, language):
    page = reader.open(address(QUESTIONS[language]), language=language, bypass_csp=True)
    why = hits(page).first.get_by_role("button", expanded=False).first
    why.focus()
    why.press("Enter")
    account = hits(page).first.locator("[data-explanation]")
    expect(account.locator(".parts .number").first).to_have_text(re.compile(r"\d"))
    scores = account.locator("tbody td:last-child").all_inner_texts()
    assert scores == sorted(scores, key=float, reverse=True)
    page.locator("#options-toggle").click()
    assert findings(page) == []
    hits(page).first.get_by_role("button", expanded=True).click()
    expect(account).to_be_hidden()


@in_both_languages
def test_an_expression_finds_papers_and_an_error_stands_under_its_word(reader, language):
    reader.expect_error("status of 422")
    page = reader.open(language=language, bypass_csp=True)
    page.locator("#options-toggle").click()
    page.locator("#expert").click()
    expect(page.locator("#expert-help")).to_be_visible()
    search(page, "thermal AND (battery")
    word = page.locator("#expression-error mark")
    expect(word).to_have_text("(battery")
    expect(page.locator("#question")).to_have_attribute("aria-invalid", "true")
    selected = page.locator("#question").evaluate(
        "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    )
    assert selected == "(battery"
    assert findings(page) == []

    page.locator("#question").fill("battery AND NOT sodium")
    expect(page.locator("#expression-error")).to_be_empty()
    search(page, "battery NOT sodium")
    expect(hits(page).first).to_be_visible()
    expect(page.locator("#question")).not_to_have_attribute("aria-invalid", "true")
    page.reload()
    expect(hits(page).first).to_be_visible()
    expect(page.locator("#expert")).to_have_attribute("aria-pressed", "true")


def test_on_a_phone_filters_results_and_answer_are_shown_in_turn(reader):
    page = reader.open(address(ENGLISH), viewport=PHONE)
    expect(hits(page).first).to_be_visible()
    for part in ("#how", "#filters", "#answer", "#tools"):
        expect(page.locator(part)).to_be_hidden()
    for part, button in {"#how": "#open-how", "#filters": "#open-filters", "#tools": "#menu"}.items():
        page.locator(button).click()
        expect(page.locator(part)).to_be_visible()
    page.locator("#menu").click()
    page.locator("#ask").click()
    expect(page.locator("#answer")).to_be_visible()
    expect(hits(page).first).to_be_hidden()
    page.locator('[data-show="results"]').click()
    expect(hits(page).first).to_be_visible()


@in_both_languages
def test_the_boolean_form_writes_an_expression(reader, language):
    page = reader.open(language=language)
    page.locator("#options-toggle").click()
    page.locator("#expert").click()
    rows = page.locator(".boolean-rows li")
    rows.nth(0).locator("input").fill("solid electrolyte")
    rows.nth(1).locator("select").nth(1).select_option("title")
    rows.nth(1).locator("input").fill("moisture humidity")
    rows.nth(1).locator("select").nth(2).select_option("any")
    rows.nth(2).locator("select").nth(0).select_option("NOT")
    rows.nth(2).locator("select").nth(1).select_option("author")
    rows.nth(2).locator("input").fill("Lena Hofstad")
    expect(page.locator("#question")).to_have_value(
        '((solid AND electrolyte) AND title:(moisture OR humidity)) NOT author:"Lena Hofstad"'
    )
    page.locator("#question").press("Enter")
    settled(page)
    expect(page.locator("[data-problem]")).to_have_count(0)
    for row in (0, 1):
        rows.nth(row).locator("input").fill("")
    expect(page.locator("#question")).to_have_value('NOT author:"Lena Hofstad"')


@pytest.mark.parametrize("width", [320, 390, 640, 768, 1024, 1280, 2560])
def test_no_width_and_so_no_size_of_text_scrolls_sideways(reader, width):
    page = shown(reader, address(KOREAN, ask=1), viewport={"width": width, "height": 800})
    for view in ("results", "answer"):
        if page.locator(f'[data-show="{view}"]').is_visible():
            page.locator(f'[data-show="{view}"]').click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
