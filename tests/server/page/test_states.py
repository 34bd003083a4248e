"""What a reader meets besides results: keys, failures, no server; the operator's view; colours and motion."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, NAME
from tests.server.page.walking import address, documents, hits, in_both_languages, search, settled, shown
from tests.server.running import NO_LIMITS, add_key, copy_of, serving

# The names of what is kept, without the ids of keys.
KEPT = """[...Object.keys(sessionStorage), ...Object.keys(localStorage)]
    .filter((name) => name.startsWith("shrag-")).map((name) => name.split(" ")[0]).sort()"""


@pytest.fixture(scope="module")
def keyed_server(tmp_path_factory, sample_home):
    """Serve the sample to those who have a key."""
    home = copy_of(sample_home, tmp_path_factory.mktemp("keyed"))
    keys = {role: add_key(home, role=role, label=f"the {role}") for role in ("reader", "operator")}
    with serving(home, home / "log", **NO_LIMITS) as server:
        yield server, keys


@pytest.fixture
def with_keys(reading, keyed_server):
    reader = reading(keyed_server[0])
    reader.expect_error("status of 401|status of 403")
    return reader


def enter(page: Page, key: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.locator("#key").fill(key)
    dialog.locator("#key").press("Enter")


@in_both_languages
def test_a_key_is_asked_for_once_and_then_the_search_goes_on(with_keys, keyed_server, language):
    page = with_keys.open(address(ENGLISH), language=language)
    expect(page.locator("#key")).to_be_focused()
    enter(page, "shrag_nonsense")
    expect(page.get_by_role("dialog").locator(".error")).to_be_visible()
    enter(page, keyed_server[1]["reader"])
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(hits(page)).to_have_count(10)
    assert keyed_server[1]["reader"] not in page.content()
    assert page.evaluate("document.cookie").find("session") < 0
    page.reload()
    expect(hits(page)).to_have_count(10)
    page.locator("#open-access").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("reader")
    assert page.evaluate(KEPT) == ["shrag-history", "shrag-key"]
    page.keyboard.press("Escape")
    hits(page).first.locator("[data-mark]").check()
    tab = page.context.new_page()
    tab.goto(page.url)
    expect(hits(tab).first.locator("[data-mark]")).to_be_checked()  # the list outlives the tab
    tab.close()
    page.locator("#open-access").click()
    dialog.get_by_role("button").last.click()
    expect(page).to_have_url(f"{keyed_server[0].url}/")
    expect(page.locator("#key")).to_be_visible()
    assert page.evaluate(KEPT) == []


def test_the_operator_sees_the_server_and_creates_a_key_that_opens_until_it_is_revoked(
    with_keys, keyed_server
):
    operator = with_keys.open("/operator")
    enter(operator, keyed_server[1]["operator"])
    expect(operator.locator("#operator")).to_contain_text(NAME)
    expect(operator.locator('[data-status="keys"]')).to_contain_text("the operator")
    assert keyed_server[1]["operator"] not in operator.content()
    keys = operator.locator('[data-operation="keys"]')
    keys.get_by_label("Owner").fill("reading room")
    keys.get_by_role("button", name="Create key").click()
    made = keys.locator("[data-new-key]")
    expect(made).to_contain_text("shrag_")

    page = with_keys.open()
    enter(page, re.findall(r"shrag_[\w-]+", made.inner_text())[0])
    expect(page.locator("#examples button")).to_have_count(3)
    operator.on("dialog", lambda dialog: dialog.accept())
    owner = keys.get_by_label("Active key")
    owner.select_option(label=owner.locator("option", has_text="reading room").text_content())
    keys.get_by_role("button", name="Revoke").click()
    expect(owner).not_to_contain_text("reading room")
    search(page, ENGLISH)
    expect(page.locator("#key")).to_be_visible()


BUSY = {"status": 429, "code": "too-busy", "detail": "too many wait", "retry_after_s": 7.2}


@in_both_languages
def test_a_server_that_is_away_or_busy_is_told_and_the_search_goes_on_at_a_press(reader, language):
    reader.expect_error("ERR_INTERNET_DISCONNECTED|status of 429")
    page = shown(reader, address(ENGLISH), language=language)
    for code, question in (("offline", "solid electrolyte"), ("too-busy", "rice paddies")):
        before = documents(page)
        if code == "offline":
            page.context.set_offline(True)
        else:
            page.route("**/api/v1/search", lambda route: route.fulfill(status=429, json=BUSY))
        search(page, question)
        problem = page.locator(f'[data-problem="{code}"]')
        expect(problem).to_contain_text("8" if code == "too-busy" else "")
        expect(page.locator("#status")).not_to_be_empty()
        page.context.set_offline(False)
        page.unroute("**/api/v1/search")
        problem.get_by_role("button").click()
        expect(problem).to_have_count(0)
        settled(page)
        expect(page.locator("#question")).to_have_value(question)
        assert documents(page) != before


def test_language_and_colours_are_kept(reader):
    page = shown(reader, address(ENGLISH), color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.locator('[data-language="ko"]').click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    settled(page)
    expect(page.locator("#question")).to_have_value(ENGLISH)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.locator("#hits h3 a").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
