"""Papers are found on a page of their own: as they come, stopped and gone on with, kept, read by keyboard."""

import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.generator.sample_index import ENGLISH, NAME
from tests.server.page.browser import NO_LIMITS, PHONE, Reader
from tests.server.page.finding import finding
from tests.server.page.test_accessibility import findings
from tests.server.page.walking import QUESTIONS, hits, in_both_languages
from tests.server.running import serving

UNKNOWN = "0f" * 16


@pytest.fixture(scope="module")
def served_finder(sample_home, tmp_path_factory):
    """Serve a copy of the sample with a model that finds; searches are kept in the copy."""
    home = tmp_path_factory.mktemp("finding")
    for path in sample_home.glob("[!.]*"):  # without the server's store
        (home / path.name).symlink_to(path)
    source = {"sources__ours__kind": "index", "sources__ours__index": NAME, "server__sources": "ours"}
    with (
        finding() as model,
        serving(home, home / "log", **NO_LIMITS, **model.settings, **source) as server,
    ):
        yield server, model


@pytest.fixture
def model(served_finder):
    yield served_finder[1]
    served_finder[1].go_on()


@pytest.fixture
def finder(browser: Browser, served_finder, model):
    del model
    reader = Reader(browser, served_finder[0].url)
    yield reader
    reader.close()


def address(question: str = ENGLISH, **asked: object) -> str:
    return f"/find?{urlencode({'q': question, **asked}, doseq=True)}"


def begin(page: Page) -> None:
    page.locator("#begin").click()


def ended(page: Page) -> None:
    expect(page.locator("#hits > li, [data-ending], [data-problem]").first).to_be_attached()
    expect(page.locator("#stop")).to_be_hidden()


def tree(page: Page) -> list[str]:
    return list(page.locator("[data-query]").evaluate_all("all => all.map((each) => each.dataset.query)"))


def papers(page: Page) -> list[str]:
    return list(hits(page).evaluate_all("all => all.map((each) => each.dataset.doc)"))


@in_both_languages
def test_a_search_is_walked_from_the_first_page_to_a_paper_and_back(finder, language):
    page = finder.open(language=language)
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

    with page.expect_download() as downloaded:
        page.locator('[data-key="export"]').click()
    assert downloaded.value.path().read_text("utf-8").count("TY  -") == 6
    first.locator("[data-mark]").check()
    expect(page.locator("#marked-count")).to_have_text("1")
    found = papers(page)
    first.locator("h3 a").click()
    expect(page.locator("#mark")).to_be_visible()
    page.go_back()
    expect(hits(page)).to_have_count(6)
    assert papers(page) == found
    assert len([request for request in sent if request.method == "POST"]) == 1
    page.locator("#search-link").click()
    expect(page.locator("#question")).to_have_value(QUESTIONS[language])


@in_both_languages
def test_a_search_is_stopped_and_gone_on_with(finder, model, language):
    model.hold("evolver")
    page = finder.open(address(papers=100), language=language)
    begin(page)
    expect(page.locator("#stop")).to_be_focused()
    expect(hits(page).first).to_be_visible()
    before = tree(page)
    page.locator("#stop").press("Enter")
    expect(page.locator('[data-ending="stopped"]')).to_be_visible()
    expect(page.locator("#begin")).to_be_focused()
    assert papers(page)
    found, branches = set(papers(page)), set(before)

    page.locator('[data-key="go-on"]').click()
    expect(page.locator("#stop")).to_be_visible()
    model.go_on()
    ended(page)
    expect(page.locator("[data-ending]")).to_have_count(0)
    assert found <= set(papers(page))
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
    assert not {*papers(page)} & {row.get_attribute("data-near") for row in near.all()}
    expect(near.first.locator(".standing")).to_have_attribute("data-standing", "below")
    expect(near.first.locator("a")).to_have_attribute("href", re.compile("^/papers/SAMPLE-.*index=sample"))
    near.first.locator("[data-mark]").check()
    expect(page.locator("#marked-count")).to_have_text("1")
    search = page.evaluate("history.state.search")
    page.goto(f"/find?search={search}")
    expect(near.first.locator("[data-mark]")).to_be_checked()
    page.goto(address(papers=1, rounds=0, layers=0))
    begin(page)
    ended(page)
    expect(hits(page)).to_have_count(1)
    expect(near).to_have_count(0)


def test_a_search_that_was_left_by_reloading_is_offered_and_opened(finder, model):
    model.hold("evolver")
    page = finder.open(address())
    begin(page)
    expect(hits(page).first).to_be_visible()
    found, grown = papers(page), tree(page)
    page.reload()
    expect(page.locator("#question")).to_have_value(ENGLISH)
    page.locator("[data-offer] a").click()
    expect(hits(page).first).to_be_visible()
    assert set(found) <= set(papers(page))  # more may have come before the page was left
    assert set(grown) <= set(tree(page))
    expect(page.locator("#question")).to_have_value(ENGLISH)
    expect(page.locator("[data-ending]")).to_be_visible()
    assert "search=" in page.url


def test_kept_searches_are_opened_saved_and_deleted(finder):
    page = finder.open(address(rounds=0, seed=1))
    begin(page)
    ended(page)
    found = papers(page)
    page.goto("/find")
    page.locator("#open-kept").click()
    kept = page.locator("[data-kept]").first
    expect(kept).to_contain_text(ENGLISH)
    with page.expect_download() as downloaded:
        kept.locator('[data-key^="save"]').click()
    assert json.loads(downloaded.value.path().read_text("utf-8"))["question"] == ENGLISH
    kept.locator("a").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(hits(page)).to_have_count(len(found))
    expect(page.locator("#rounds")).to_have_value("0")
    page.reload()
    expect(hits(page)).to_have_count(len(found))

    page.locator("#open-kept").click()
    expect(page.locator("[data-kept]").first).to_be_visible()
    some = page.locator("[data-kept]").count()
    page.locator('[data-key^="delete"]').first.click()
    expect(page.locator("[data-kept]")).to_have_count(some - 1)
    page.get_by_role("dialog").press("Escape")
    finder.expect_error("status of 404")
    page.reload()
    expect(page.locator('[data-problem="unknown-search"]')).to_be_visible()


def test_the_tree_is_opened_by_keys_and_keeps_the_focus_while_it_grows(finder, model):
    model.hold("evolver")
    page = finder.open(address(papers=100))
    begin(page)
    branch = page.locator("[data-query] > .branch").first
    expect(branch).to_have_attribute("aria-expanded", "true")
    branch.focus()
    page.keyboard.press("Enter")
    expect(branch).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Space")
    expect(branch).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    link = page.locator("[data-query] [data-paper] a").first
    expect(link).to_be_focused()
    top = link.bounding_box()
    model.go_on()
    ended(page)
    expect(link).to_be_focused()
    assert link.bounding_box() == top  # what came stands behind it
    folded = page.locator(".others > button").first
    folded.focus()
    page.keyboard.press("Enter")
    low = page.locator('.others [data-relevant="false"]').first
    expect(low).to_be_visible()
    expect(low.locator(".standing")).to_contain_text("below")


def many(count: int, **record: object) -> bytes:
    """Write the events of a search that found so many papers, one of fifty relevant."""
    query = {"text": ENGLISH, "kind": "question", "round": 0, "paper": None, "found": count}
    records = [
        {
            "id": f"P{number}",
            "title": f"Paper {number}",
            "year": 2000,
            "lang": "en",
            "score": 0.9 if number % 50 == 0 else 0.1,
            "relevant": number % 50 == 0,
            "reason": "told",
            "judged_by": "words",
            "layer": 0,
            "found_by": {"kind": "query", "of": ENGLISH, "rank": number + 1},
            **record,
        }
        for number in range(count)
    ]
    sent = [("queries", {"queries": [query]})]
    sent += [("papers", {"papers": records[start : start + 100]}) for start in range(0, count, 100)]
    return "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in sent).encode()


def begin_with(page: Page, events: bytes) -> None:
    """Begin a search that sends these events, and breaks off."""
    headers = {"Content-Type": "text/event-stream"}
    page.route("**/api/v1/find-papers", lambda route: route.fulfill(body=events, headers=headers))
    begin(page)
    expect(page.locator('[data-problem="find-cut-off"]')).to_be_visible()


def test_five_thousand_papers_are_told_and_made_when_they_are_opened(finder):
    page = finder.open(address())
    begin_with(page, many(5_000))
    expect(page.locator(".branch").first).to_contain_text("5,000 papers, 100 relevant")
    expect(page.locator("[data-paper]")).to_have_count(50)
    page.locator(".others > button").click()
    expect(page.locator(".others [data-paper]")).to_have_count(50)
    page.locator(".others").get_by_text("50 more").press("Enter")
    expect(page.locator(".others [data-paper]")).to_have_count(100)
    expect(page.locator(".others [data-paper]").nth(50)).to_be_focused()


HEAR = """
window.said = [];
const status = document.getElementById("status");
new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
"""


def test_a_screen_reader_is_told_names_and_states_and_nothing_of_each_paper(finder):
    page = finder.open(address())
    page.evaluate(HEAR)
    begin_with(page, many(200))
    assert len(page.evaluate("window.said")) <= 2  # it begins, it breaks off
    assert page.locator("[aria-live], [role=status], [role=alert]").count() == 1
    tree = page.get_by_role("region", name="How they were found")
    expect(
        tree.get_by_role("button", name=re.compile("^question .* 200 papers, 4 relevant$"), expanded=True)
    ).to_be_visible()
    found = tree.get_by_role("list", name=f"Papers of the query “{ENGLISH}”")
    expect(found.get_by_role("listitem")).to_have_text(
        [re.compile(f"relevant Paper {n}") for n in (0, 50, 100, 150)]
    )
    folded = tree.get_by_role("button", name="196 below the threshold", expanded=False)
    folded.press("Enter")
    expect(tree.get_by_role("list", name="Papers below the threshold").get_by_role("listitem")).to_have_count(
        51
    )


def shown_whole(page: Page) -> None:
    page.locator("#options-toggle").click()
    begin(page)
    ended(page)
    page.locator("#hits .actions button").first.click()
    if page.locator('[data-show="tree"]').is_visible():
        page.locator('[data-show="tree"]').click()
    page.locator(".others > button").first.click()


def listed(page: Page) -> None:
    shown_whole(page)
    page.locator("#open-kept").click()
    expect(page.locator("[data-kept]").first).to_be_visible()


@pytest.mark.parametrize(
    ("language", "prepare", "viewport"),
    [("ko", shown_whole, PHONE), ("en", listed, {"width": 1400, "height": 900})],
)
def test_axe_finds_nothing_serious_in_either_theme(finder, language, prepare, viewport):
    page = finder.open(
        address(max_papers=8), language=language, bypass_csp=True, viewport=viewport, reduced_motion="reduce"
    )
    prepare(page)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
