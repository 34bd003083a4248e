"""An answer on the page: how it arrives, what its citations open, what its checks say."""

import json
from threading import Semaphore

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN, UNANSWERABLE_KOREAN
from tests.server.page.browser import NO_LIMITS, Reader
from tests.server.page.model import ANSWER, writing
from tests.server.page.walking import QUESTIONS, address, answered, hits, in_both_languages, settled
from tests.server.running import serving


@pytest.fixture(scope="module")
def writer():
    with writing() as writer:
        yield writer


@pytest.fixture(scope="module")
def model_server(sample_home, writer, tmp_path_factory):
    log = tmp_path_factory.mktemp("model") / "log"
    with serving(sample_home, log, **NO_LIMITS, **writer.settings) as server:
        yield server


@pytest.fixture
def with_model(browser, model_server, writer):
    """Read the page of a server that has a model."""
    writer.answer, writer.held, writer.steps = ANSWER, False, Semaphore(0)
    reader = Reader(browser, model_server.url)
    yield reader
    writer.go_on(20)
    reader.close()


def sentences(page: Page):
    return page.locator("[data-sentence]")


@in_both_languages
def test_without_a_model_passages_are_quoted_and_the_page_says_so(reader, language):
    page = reader.open(language=language)
    expect(page.locator("#quiet")).not_to_be_empty()
    page.locator("#question").fill(QUESTIONS[language])
    page.locator("#ask").click()
    answered(page)
    assert sentences(page).count() > 2
    expect(page.locator('[data-sentence][data-check="quoted"]').first).to_be_visible()
    expect(page.locator(".check-mark")).to_have_count(0)
    expect(page.locator("[data-likelihood]")).to_contain_text("%")
    expect(hits(page).first).to_be_visible()
    expect(page.locator("[data-evidence]").first).to_be_visible()
    assert "ask=1" in page.url


@in_both_languages
def test_way_and_hops_are_chosen_among_the_options_and_stand_in_the_address(reader, language):
    page = reader.open(language=language)
    page.locator("#options-toggle").click()
    page.locator("#way").select_option("paper-qa-6")
    page.locator("#hops").select_option("never")
    page.locator("#question").fill(ENGLISH)
    with page.expect_request("**/api/v1/ask") as asked:
        page.locator("#ask").click()
    assert asked.value.post_data_json["hops"] == "never"
    answered(page)
    assert "way=paper-qa-6&hops=never" in page.url
    expect(page.locator("[data-evidence]")).to_have_attribute("data-evidence", "SAMPLE-BAT-011")
    page.reload()
    expect(page.locator("#way")).to_have_value("paper-qa-6")
    expect(page.locator("#hops")).to_have_value("never")
    answered(page)


@in_both_languages
def test_a_citation_opens_its_passage_beside_and_escape_goes_back(reader, language):
    page = reader.open(address(QUESTIONS[language], ask=1), language=language)
    answered(page)
    settled(page)
    sentence = sentences(page).nth(1)
    text = sentence.locator("span[lang]").first.inner_text()
    citation = sentence.locator("[data-cites]").first
    citation.focus()
    citation.press("Enter")
    beside = page.locator("[data-passage-beside]")
    expect(beside).to_have_attribute("data-passage-beside", citation.get_attribute("data-cites"))
    expect(beside.locator("mark").first).to_be_in_viewport()
    assert beside.locator("mark").first.inner_text() in text
    expect(citation).to_have_attribute("aria-expanded", "true")
    expect(sentence).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(beside).to_have_count(0)
    expect(citation).to_be_focused()
    expect(citation).to_have_attribute("aria-expanded", "false")


@in_both_languages
def test_sentences_arrive_one_by_one_with_their_checks(with_model, writer, language):
    writer.held = True
    page = with_model.open(language=language)
    page.locator("#question").fill(KOREAN)
    page.locator("#ask").click()
    expect(hits(page).first).to_be_visible()
    writer.go_on()  # what stands before the first sentence's citations
    for count in (1, 2, 3):
        writer.go_on()
        expect(sentences(page)).to_have_count(count)
        expect(page.locator('#answer-body [aria-busy="true"]')).to_have_count(1)
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    writing = {"ko": "답변을 작성하고 있습니다", "en": "Writing the answer"}[language]
    expect(page.locator("#status")).to_contain_text(writing)
    writer.go_on(2)
    answered(page)
    texts = [row["text"] for part in ("introduction", "body", "conclusion") for row in ANSWER[part]]
    for place, text in enumerate(texts):
        expect(sentences(page).nth(place)).to_contain_text(text)
    expect(sentences(page)).to_have_count(len(texts))
    expect(sentences(page).nth(2)).to_have_attribute("data-check", "unsupported")
    expect(page.locator("#answer-body .colophon")).to_contain_text("tiny-writer")
    expect(page.locator("#status")).to_contain_text("4")


@in_both_languages
def test_a_check_explains_itself_by_words(with_model, language):
    page = with_model.open(address(KOREAN, ask=1), language=language)
    answered(page)
    wrong = page.locator('[data-sentence][data-check="unsupported"]')
    wrong.locator(".check-mark").click()
    expect(wrong.locator('[data-hint="number"]')).to_contain_text("98765")
    right = page.locator('[data-sentence][data-check="supported"]').first
    right.locator(".check-mark").click()
    expect(right.locator(".why")).to_contain_text("[1]")
    said = {
        page.locator(f".check-mark[data-check={check}]").first.inner_text()
        for check in ("supported", "unsupported")
    }
    assert len(said) == 2


def test_the_model_chooses_the_keywords_of_a_search_which_its_address_finds_again(with_model):
    page = with_model.open(address(KOREAN))
    settled(page)
    page.locator('[data-key="ask_model"]').click()
    expect(page.locator('[data-origin="model"]')).to_be_visible()
    settled(page)
    page.reload()
    settled(page)
    expect(page.locator('[data-origin="model"]')).to_be_visible()
    expect(page.locator('[data-keyword="turnover"]')).to_be_visible()


def test_an_answer_that_was_there_is_shown_again_and_can_be_asked_for_anew(with_model, writer):
    page = with_model.open(address(KOREAN, ask=1))
    answered(page)
    writer.answer = json.loads(json.dumps(ANSWER).replace("98765", "43210"))
    page.reload()
    answered(page)
    expect(sentences(page).nth(2)).to_contain_text("98765")
    page.locator("#answer-body").get_by_role("button", name="Ask again").click()
    expect(sentences(page).nth(2)).to_contain_text("43210")


@in_both_languages
def test_that_the_passages_hold_no_answer_is_said_plainly(reader, language):
    page = reader.open(address(UNANSWERABLE_KOREAN, ask=1), language=language)
    said = {"ko": "답", "en": "The passages hold no answer"}[language]
    expect(page.locator("#answer-body")).to_contain_text(said)
    answered(page)
    expect(page.locator("[data-evidence]").first).to_be_visible()


@in_both_languages
def test_where_the_model_fails_passages_are_quoted_and_labelled(with_model, writer, language):
    writer.answer = None
    page = with_model.open(address(KOREAN, ask=1), language=language)
    answered(page)
    said = {"ko": "모델", "en": "The model failed"}[language]
    expect(page.locator("#answer-body")).to_contain_text(said)
    assert sentences(page).count() > 2


def test_nothing_jumps_while_an_answer_arrives(with_model, writer):
    writer.held = True
    page = with_model.context().new_page()
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries())"
        " if (!entry.hadRecentInput) window.shift += entry.value; })"
        ".observe({ type: 'layout-shift', buffered: true });"
    )
    page.goto(address(KOREAN, ask=1))
    settled(page)
    writer.go_on()
    for count in (1, 2, 3, 4):
        writer.go_on()
        expect(sentences(page)).to_have_count(count)
    writer.go_on()
    answered(page)
    assert page.evaluate("window.shift") < 0.05
