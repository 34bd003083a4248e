"""An answer on the page: how it arrives, what its citations open, what its checks say, what follows it."""

import json
from threading import Semaphore

import pytest
from playwright.sync_api import Page, expect

from server.store import Store
from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.page.browser import PHONE, WIDE, findings
from tests.server.page.model import ANSWER, WRONG, writing
from tests.server.page.walking import (
    QUESTIONS,
    address,
    answered,
    documents,
    hits,
    in_both_languages,
    settled,
    shown,
)
from tests.server.running import NO_LIMITS, copy_of, serving

FIRST = "How much does alternate wetting and drying reduce methane from rice paddies?"
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput)
      window.shifts.push([entry.value, ...entry.sources.map(({ node }) => node?.id || node?.className)]);
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="module")
def model_server(sample_home, tmp_path_factory):
    home = copy_of(sample_home, tmp_path_factory.mktemp("model"))
    settings = {"server__judgements": True, "llm__other_models": "small-writer", **NO_LIMITS}
    with writing() as writer, serving(home, home / "log", **settings, **writer.settings) as server:
        yield server, writer


@pytest.fixture
def writer(model_server):
    writer = model_server[1]
    writer.answer, writer.held, writer.steps = ANSWER, False, Semaphore(0)
    yield writer
    writer.go_on(20)


@pytest.fixture
def with_model(reading, model_server, writer):
    """Read the page of a server that has a model."""
    del writer
    return reading(model_server[0])


def sentences(page: Page):
    return page.locator("[data-sentence]")


@in_both_languages
def test_without_a_model_passages_are_quoted_in_the_way_that_was_chosen(reader, language):
    page = reader.open(language=language)
    expect(page.locator("#quiet")).not_to_be_empty()
    page.locator("#options-toggle").click()
    page.locator("#way").select_option("paper-qa-6")
    page.locator("#hops").select_option("never")
    page.locator("#question").fill(ENGLISH)
    with page.expect_request("**/api/v1/ask") as asked:
        page.locator("#ask").click()
    assert asked.value.post_data_json["hops"] == "never"
    answered(page)
    expect(page.locator('[data-sentence][data-check="quoted"]').first).to_be_visible()
    expect(page.locator(".check-mark")).to_have_count(0)
    expect(page.locator("[data-evidence]")).to_have_attribute("data-evidence", "SAMPLE-BAT-011")
    assert "way=paper-qa-6&hops=never" in page.url
    page.reload()
    expect(page.locator("#way")).to_have_value("paper-qa-6")
    expect(page.locator("#hops")).to_have_value("never")
    answered(page)


@in_both_languages
def test_a_citation_opens_its_passage_beside_and_escape_goes_back(reader, language):
    page = shown(reader, address(QUESTIONS[language], ask=1), language=language, bypass_csp=True)
    page.locator("[data-cite-answer]").click()
    expect(page.locator("#answer-body [data-cited]")).to_contain_text("202")
    sentence = sentences(page).first
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
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(beside).to_have_count(0)
    expect(citation).to_be_focused()
    expect(citation).to_have_attribute("aria-expanded", "false")


def assert_still(page: Page) -> None:
    shifts = page.evaluate("window.shifts")
    assert sum(shift[0] for shift in shifts) < 0.1, shifts  # "good" of the Core Web Vitals


@in_both_languages
def test_sentences_arrive_one_by_one_with_checks_that_explain_themselves(with_model, writer, language):
    writer.held = True
    page = with_model.open(address(KOREAN, ask=1), language=language, script=WATCH_SHIFTS)
    expect(hits(page).first).to_be_visible()
    writer.go_on()  # what stands before the first sentence's citations
    for count in (1, 2, 3):
        writer.go_on()
        expect(sentences(page)).to_have_count(count)
        expect(page.locator('#answer-body [aria-busy="true"]')).to_have_count(1)
    writer.go_on(2)
    answered(page)
    assert_still(page)
    texts = [row["text"] for part in ("introduction", "body", "conclusion") for row in ANSWER[part]]
    expect(page.locator("[data-sentence] > [lang]")).to_have_text(texts)
    expect(page.locator("#answer-body .colophon")).to_contain_text("tiny-writer")
    expect(page.locator("#status")).to_contain_text("4")

    said = set()
    for check, hint, word in (("unsupported", '[data-hint="number"]', WRONG), ("supported", ".why", "[1]")):
        sentence = page.locator(f'[data-sentence][data-check="{check}"]').first
        sentence.locator(".check-mark").click()
        expect(sentence.locator(hint)).to_contain_text(word)
        said.add("".join(filter(str.isalpha, sentence.locator(".check-mark").inner_text())))
    assert len(said - {""}) == 2  # KWCAG 2.2, 5.3.3 and 5.4.1: not by sign or colour alone


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_start_a_search_and_an_answer_do_not_jump(reader, viewport):
    for path in ("/", address(ENGLISH, ask=1)):
        page = reader.open(path, viewport=viewport, script=WATCH_SHIFTS)
        expect(page.locator("#examples button, #answer-body .colophon > p").first).to_be_attached()
        page.wait_for_load_state("networkidle")
        assert_still(page)


def test_the_model_chooses_the_keywords_of_a_search_which_its_address_finds_again(with_model):
    page = shown(with_model, address(KOREAN))
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
    writer.answer = json.loads(json.dumps(ANSWER).replace(WRONG, "43210"))
    page.reload()
    answered(page)
    expect(sentences(page).nth(2)).to_contain_text("98765")
    page.locator("#answer-body").get_by_role("button", name="Ask again").click()
    expect(sentences(page).nth(2)).to_contain_text("43210")


@in_both_languages
def test_where_the_model_fails_passages_are_quoted_and_labelled(with_model, writer, language):
    writer.answer = None
    page = with_model.open(address(KOREAN, ask=1), language=language)
    answered(page)
    expect(page.locator("[data-model-failed]")).to_be_visible()
    assert sentences(page).count() >= 1


def test_a_further_question_is_searched_with_the_subject_of_the_first(reader):
    page = reader.open(address(FIRST, ask=1))
    answered(page)
    page.locator("[data-further] input").fill("And the yield?")
    page.locator("[data-further] button").click()
    expect(page.locator("[data-meant] q")).to_contain_text("methane")
    settled(page)
    assert documents(page)[0] == "SAMPLE-AGR-002"
    assert "after=How+much" in page.url

    page.reload()
    expect(page.locator("[data-meant] q")).to_contain_text("methane")


def test_an_answer_by_another_model_is_judged_and_a_judgement_can_be_changed(
    with_model, model_server, writer
):
    writer.asked.clear()
    page = shown(with_model, address(KOREAN, after=FIRST, ask=1, model="small-writer"))
    expect(page.locator("#model")).to_have_value("small-writer")
    assert writer.asked == {"small-writer"}
    first = hits(page).first
    for verdict in ("helpful", "not helpful"):
        first.locator(f'[data-verdict="{verdict}"]').click()
        expect(first.locator(f'[data-verdict="{verdict}"]')).to_have_attribute("aria-pressed", "true")
    for part, verdict in (("answer", "helpful"), ("sentence", "not supported")):
        page.locator(f'[data-judge-{part}] [data-verdict="{verdict}"]').first.click()
        expect(page.locator(f'[data-judge-{part}] [aria-pressed="true"]')).to_have_count(1)
    rows = Store(model_server[0].home).rows("SELECT record FROM judgements ORDER BY id")
    kept = [json.loads(record) for (record,) in rows]
    verdicts = [record["verdict"] for record in kept]
    assert verdicts == ["helpful", "not helpful", "helpful", "not supported"]
    assert kept[0]["paper"] == kept[1]["paper"] is not None
    assert kept[3]["written_by"] == "tiny-writer-7b"
    assert len({(record["reader"], record["question"]) for record in kept}) == 1
