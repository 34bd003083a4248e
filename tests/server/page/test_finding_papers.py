"""Papers are found on a page of their own: as they come, stopped and gone on with, kept, read by keyboard."""

import json
import re
import threading
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.generator.finding_model import FindingModel, evolver, serving_model
from tests.generator.sample_index import ENGLISH, NAME
from tests.server.page.browser import findings
from tests.server.page.walking import QUESTIONS, documents, hits, in_both_languages
from tests.server.running import NO_LIMITS, START_S, copy_of, serving


class Finder(FindingModel):
    """A model whose agent `evolver` waits while it is held."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.hold, self.go_on = self.released.clear, self.released.set
        super().__init__({"evolver": lambda prompt: lambda: self.released.wait(START_S) and evolver(prompt)})


@pytest.fixture(scope="module")
def served_finder(sample_home, tmp_path_factory):
    home = copy_of(sample_home, tmp_path_factory.mktemp("finding"))
    source = {"sources__ours__kind": "index", "sources__ours__index": NAME, "server__sources": "ours"}
    model = Finder()
    with (
        serving_model(model) as llm,
        serving(home, home / "log", **NO_LIMITS, **llm, **source) as server,
    ):
        yield server, model


@pytest.fixture
def model(served_finder):
    yield served_finder[1]
    served_finder[1].go_on()


@pytest.fixture
def finder(reading, served_finder, model):
    model.go_on()
    return reading(served_finder[0])


def address(question: str = ENGLISH, **asked: object) -> str:
    return f"/find?{urlencode({'q': question, **asked})}"


def begin(page: Page) -> None:
    page.locator("#begin").click()


def ended(page: Page) -> None:
    expect(page.locator("#hits > li, [data-ending], [data-problem]").first).to_be_attached()
    expect(page.locator("#stop")).to_be_hidden()


def tree(page: Page) -> list[str]:
    return list(page.locator("[data-query]").evaluate_all("all => all.map((each) => each.dataset.query)"))


@in_both_languages
def test_a_search_is_walked_from_the_first_page_to_a_paper_and_back(finder, language):
    page = finder.open(language=language, bypass_csp=True, reduced_motion="reduce")
    sent = []
    page.on("request", lambda request: sent.append(request) if "/find-papers" in request.url else None)
    page.locator("#question").fill(QUESTIONS[language])
    page.locator("#find-link").click()
    expect(page.locator("#question")).to_have_value(QUESTIONS[language])
    expect(page.locator("#examples button")).to_have_count(3)
    assert sent == []  # an address spends nothing

    page.locator("#options-toggle").click()
    page.locator("#threshold").fill("0.1")
    page.locator("#papers").fill("6")
    page.locator("#question").press("Enter")
    ended(page)
    expect(hits(page)).to_have_count(6)
    assert json.loads(sent[0].post_data) == {
        "question": QUESTIONS[language],
        "index": "sample",
        "papers": 6,
        "threshold": 0.1,
    }
    first = hits(page).first
    expect(first.locator(".standing")).to_contain_text("✓")
    first.locator(".actions button").first.click()
    expect(first.locator("[data-account] [data-found-by]").first).to_be_visible()
    expect(page.locator("#understanding dd").first).not_to_be_empty()
    assert "battery pack safety barriers" in tree(page)
    expect(page.locator('[data-query] [data-relevant="true"]').first).to_be_visible()
    expect(page.locator("#status")).to_contain_text("6")
    assert findings(page) == []

    with page.expect_download() as downloaded:
        page.locator('[data-key="export"]').click()
    assert downloaded.value.path().read_text("utf-8").count("TY  -") == 6
    first.locator("[data-mark]").check()
    expect(page.locator("#marked-count")).to_have_text("1")
    found = documents(page)
    first.locator("h3 a").click()
    expect(page.locator("#mark")).to_be_visible()
    page.go_back()
    expect(hits(page)).to_have_count(6)
    assert documents(page) == found
    assert len([request for request in sent if request.method == "POST"]) == 1
    page.locator("#search-link").click()
    expect(page.locator("#question")).to_have_value(QUESTIONS[language])


@in_both_languages
def test_a_search_is_stopped_and_gone_on_with(finder, model, language):
    model.hold()
    page = finder.open(address(papers=100), language=language)
    begin(page)
    expect(page.locator("#stop")).to_be_focused()
    expect(hits(page).first).to_be_visible()
    before = tree(page)
    page.locator("#stop").press("Enter")
    expect(page.locator('[data-ending="stopped"]')).to_be_visible()
    expect(page.locator("#begin")).to_be_focused()
    assert documents(page)
    found, branches = set(documents(page)), set(before)

    page.locator('[data-key="go-on"]').click()
    expect(page.locator("#stop")).to_be_visible()
    model.go_on()
    ended(page)
    expect(page.locator("[data-ending]")).to_have_count(0)
    assert found <= set(documents(page))
    assert branches < set(tree(page))  # evolved queries came


def test_the_budget_is_told_and_enlarged(finder):
    page = finder.open(address(max_papers=5, threshold=0.9))
    begin(page)
    ended(page)
    ending = page.locator("[data-ending]")
    expect(ending).to_contain_text("not complete")
    expect(page.locator("#spent")).to_contain_text("5 of 5")
    expect(ending.locator('[name="max_papers"]')).to_have_value("10")
    ending.locator('[name="max_papers"]').fill("")
    ending.locator("button").click()
    expect(page.locator("#spent")).not_to_contain_text("5 of 5")
    ended(page)
    expect(page.locator("[data-ending]")).to_have_count(0)
    assert "max_papers" not in page.locator("#max_papers").input_value()


@in_both_languages
def test_what_was_nearly_relevant_is_below_the_list_and_can_be_marked(finder, language):
    page = finder.open(address(threshold=0.85, rounds=0, layers=0), language=language)
    begin(page)
    ended(page)
    near = page.locator("#near [data-near]")
    expect(near.first).to_be_visible()
    assert not {*documents(page)} & {row.get_attribute("data-near") for row in near.all()}
    expect(near.first.locator(".standing")).to_have_attribute("data-standing", "below")
    expect(near.first.locator("a")).to_have_attribute("href", re.compile("^/papers/SAMPLE-.*index=sample"))
    near.first.locator("[data-mark]").check()
    expect(page.locator("#marked-count")).to_have_text("1")
    page.goto(f"/find?search={page.evaluate('history.state.search')}")
    expect(near.first.locator("[data-mark]")).to_be_checked()


def test_a_search_that_was_left_is_offered_opened_saved_and_deleted(finder, model):
    model.hold()
    page = finder.open(address(), bypass_csp=True, reduced_motion="reduce")
    begin(page)
    expect(hits(page).first).to_be_visible()
    found, grown = {*documents(page)}, {*tree(page)}
    page.reload()
    page.locator("[data-offer] a").click()
    expect(hits(page).first).to_be_visible()
    assert found <= {*documents(page)}  # more may have come before the page was left
    assert grown <= {*tree(page)}
    expect(page.locator("[data-ending]")).to_be_visible()
    assert "search=" in page.url
    count = hits(page).count()

    page.goto("/find")
    page.locator("#open-kept").click()
    kept = page.locator("[data-kept]")
    expect(kept.first).to_contain_text(ENGLISH)
    assert findings(page) == []
    with page.expect_download() as downloaded:
        kept.first.locator('[data-key^="save"]').click()
    assert json.loads(downloaded.value.path().read_text("utf-8"))["question"] == ENGLISH
    kept.first.locator("a").click()
    for again in (lambda: None, page.reload):
        again()
        expect(hits(page)).to_have_count(count)
        expect(page.locator("#question")).to_have_value(ENGLISH)

    page.locator("#open-kept").click()
    expect(kept.first).to_be_visible()
    some = kept.count()
    page.locator('[data-key^="delete"]').first.click()
    expect(kept).to_have_count(some - 1)
    page.get_by_role("dialog").press("Escape")
    finder.expect_error("status of 404")
    page.reload()
    expect(page.locator('[data-problem="unknown-search"]')).to_be_visible()


def test_the_tree_is_opened_by_keys_and_keeps_the_focus_while_it_grows(finder, model):
    model.hold()
    page = finder.open(address(papers=100))
    begin(page)
    branch = page.locator("[data-query] > .branch").first
    expect(branch).to_have_attribute("aria-expanded", "true")  # it is disabled until it has papers
    branch.focus()
    for key, expanded in (("Enter", "false"), ("Space", "true")):
        page.keyboard.press(key)
        expect(branch).to_have_attribute("aria-expanded", expanded)
    page.keyboard.press("Tab")
    link = page.locator("[data-query] [data-paper] a").first
    expect(link).to_be_focused()
    top = link.bounding_box()
    model.go_on()
    ended(page)
    expect(link).to_be_focused()
    assert link.bounding_box() == top  # what came stands behind it


def many(count: int) -> list[tuple[str, object]]:
    """Return the events of a search that found so many papers, one of fifty relevant."""
    query = {"text": ENGLISH, "kind": "question", "round": 0, "paper": None, "found": count}
    common = {"year": 2000, "lang": "en", "reason": "told", "judged_by": "words", "layer": 0}
    papers = [
        common
        | {"id": f"P{number}", "title": f"Paper {number}", "relevant": number % 50 == 0}
        | {"score": 0.1 if number % 50 else 0.9}
        | {"found_by": {"kind": "query", "of": ENGLISH, "rank": number + 1}}
        for number in range(count)
    ]
    parts = [("papers", {"papers": papers[start : start + 100]}) for start in range(0, count, 100)]
    return [("queries", {"queries": [query]}), *parts]


def begin_with(page: Page, *events: tuple[str, object]) -> None:
    """Begin a search that sends these events, and breaks off."""
    body = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
    headers = {"Content-Type": "text/event-stream"}
    page.route("**/api/v1/find-papers", lambda route: route.fulfill(body=body, headers=headers))
    begin(page)
    expect(page.locator('[data-problem="find-cut-off"]')).to_be_visible()


def test_a_search_whose_connection_broke_is_gone_on_with_when_the_server_is_back(finder):
    finder.expect_error("ERR_INTERNET_DISCONNECTED")
    page = finder.open(address())
    call = {"question": ENGLISH, "rounds": 0, "layers": 0}
    kept = page.request.post("/api/v1/find-papers", data=call).json()
    begin_with(page, ("search", {"id": kept["search"]}), *many(60))
    page.unroute("**/api/v1/find-papers")
    for offline in (True, False):
        expect(page.locator('[data-ending="failed"] [data-problem]')).to_have_count(1)
        expect(page.locator("[data-problem] button")).to_have_count(0)  # that begins anew
        expect(page.locator('[data-key="go-on"]')).to_be_focused()
        assert documents(page) == ["P0", "P50"]
        page.context.set_offline(offline)
        page.keyboard.press("Enter")
        if offline:
            expect(page.locator('[data-problem="offline"]')).to_be_visible()
    ended(page)
    expect(page.locator("[data-ending]")).to_have_count(0)
    assert documents(page) == [paper["id"] for paper in kept["papers"]]


HEAR = """
window.said = [];
const status = document.getElementById("status");
new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
"""


def test_a_screen_reader_is_told_names_and_states_of_five_thousand_papers_and_nothing_of_each(finder):
    page = finder.open(address())
    page.evaluate(HEAR)
    begin_with(page, *many(5_000))
    assert len(page.evaluate("window.said")) <= 2  # it begins, it breaks off
    assert page.locator("[aria-live], [role=status], [role=alert]").count() == 1
    grown = page.get_by_role("region", name="How they were found")
    query = re.compile("^question .* 5,000 papers, 100 relevant$")
    expect(grown.get_by_role("button", name=query, expanded=True)).to_be_visible()
    relevant = grown.get_by_role("list", name=f"Papers of the query “{ENGLISH}”").get_by_role("listitem")
    expect(relevant.first).to_have_text(re.compile("relevant Paper 0"))
    expect(page.locator("[data-paper]")).to_have_count(50)
    grown.get_by_role("button", name="4,900 below the threshold", expanded=False).press("Enter")
    others = grown.get_by_role("list", name="Papers below the threshold").get_by_role("listitem")
    expect(others).to_have_count(51)
    others.get_by_text("50 more").press("Enter")
    expect(others).to_have_count(101)
    expect(others.nth(50)).to_be_focused()
