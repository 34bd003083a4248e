"""The page from a question to a reference, in both languages of its interface."""

import re

from playwright.sync_api import Page, expect

QUESTION = "Does drip irrigation lower methane?"
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"
FEWEST = 3


def searched(page: Page, question: str = QUESTION, *, ask: bool = False) -> None:
    """Type a question and wait for its results, or its answer."""
    page.goto("/")
    page.locator("#question").fill(question)
    if ask:
        page.locator("#ask").click()
        expect(page.locator("[data-written-by]")).to_be_visible()
    else:
        page.locator("#question").press("Enter")
    expect(page.locator("#hits > li").first).to_be_visible()


def test_the_first_view_offers_questions_of_the_index(page: Page) -> None:
    page.goto("/")
    examples = page.locator("#examples button")
    expect(examples).to_have_count(FEWEST)
    asked = examples.first.inner_text()
    examples.first.click()
    expect(page.locator("#hits > li").first).to_be_visible()
    expect(page.locator("#question")).to_have_value(asked)


def test_a_search_has_an_address_that_opens_the_same(page: Page) -> None:
    searched(page)
    titles = page.locator("#hits .title").all_inner_texts()
    page.goto(page.url)
    expect(page.locator("#hits .title")).to_have_text(titles)


def test_a_moved_keyword_searches_again_and_keeps_the_focus(page: Page) -> None:
    searched(page, "solid electrolyte moisture")
    words = page.locator("#keywords [data-keyword]")
    first = words.first.get_attribute("data-keyword")
    words.first.locator("button").nth(1).press("Alt+ArrowDown")
    expect(words.nth(1)).to_have_attribute("data-keyword", first or "")
    expect(page.locator("#changes > *")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('[data-keyword]').dataset.keyword") == first
    page.go_back()
    expect(words.first).to_have_attribute("data-keyword", first or "")


def test_a_query_can_be_left_out(page: Page) -> None:
    searched(page)
    page.locator("[data-query=question] input").uncheck()
    expect(page).to_have_url(re.compile("skip=question"))
    expect(page.locator("[data-query=question] .skipped")).to_be_visible()


def test_a_limit_of_the_question_can_be_dropped(page: Page) -> None:
    searched(page, "Which solid electrolytes are stable since 2015, other than sulfides?")
    limits = page.locator("[data-constraint]")
    expect(limits).to_have_count(2)
    limits.first.get_by_role("button").click()
    expect(limits).to_have_count(1)
    expect(page.locator("#question")).to_have_value("Which solid electrolytes are stable since 2015?")


def test_an_answer_comes_by_sentence_and_its_citations_open_beside_it(page: Page) -> None:
    searched(page, KOREAN, ask=True)
    sentence = page.locator(".sentence").first
    citation = sentence.locator(".cite").first
    citation.click()
    beside = page.locator("[data-passage-beside]")
    expect(beside.locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(beside).to_have_count(0)
    expect(citation).to_be_focused()
    sentence.locator(".check-mark").click()
    expect(sentence.locator(".why")).to_be_visible()


def test_what_the_passages_do_not_answer_is_said_plainly(page: Page) -> None:
    searched(page, "How high is Mount Everest?", ask=True)
    expect(page.locator("[data-abstained]")).to_be_visible()


def test_an_error_of_an_expression_stands_under_the_word(page: Page) -> None:
    page.goto("/")
    page.locator("#expert").click()
    page.locator("#question").fill("title:전해질 AND yaer:2019")
    with page.expect_response("**/api/v1/search"):
        page.locator("#question").press("Enter")
    expect(page.locator("#expression-error mark")).to_have_text("yaer:2019")


def test_a_papers_page_is_whole_without_scripts(page: Page) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto("/papers/SAMPLE-NLP-003")
    expect(page.get_by_role("heading", level=1)).to_have_attribute("lang", "ko")
    expect(page.locator("meta[name=citation_title]")).to_have_count(1)
    expect(page.locator(".Z3988")).to_have_count(1)
