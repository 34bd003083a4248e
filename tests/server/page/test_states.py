"""What a reader meets besides results: keys, failures, no server; the operator's view; colours and motion."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.page.browser import NO_LIMITS, Reader
from tests.server.page.walking import address, answered, documents, hits, in_both_languages, settled
from tests.server.running import serving

# The names of what is kept, without the ids of keys.
KEPT = """[...Object.keys(sessionStorage), ...Object.keys(localStorage)]
    .filter((name) => name.startsWith("shrag-")).map((name) => name.split(" ")[0]).sort()"""


@pytest.fixture(scope="module")
def keyed_server(tmp_path_factory, sample_home):
    """Serve a copy of the sample to those who have a key."""
    home = tmp_path_factory.mktemp("keyed")
    for path in sample_home.glob("[!.]*"):  # without the server's store
        (home / path.name).symlink_to(path)
    keys = {}
    for label, options in {
        "reader": ["--expires", "90d"],
        "operator": ["--role", "operator"],
        "guest": ["--expires", "90d"],
    }.items():
        done = shrag("keys", "create", "--label", label, *options, home=home)
        assert done.returncode == 0, done.stderr
        keys[label] = done.stdout.strip()
    with serving(home, home / "log", **NO_LIMITS) as server:
        yield server, keys


@pytest.fixture
def with_keys(browser, keyed_server):
    reader = Reader(browser, keyed_server[0].url)
    reader.expect_error("status of 401|status of 403")
    yield reader
    reader.close()


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
    dialog.get_by_role("button").last.click()
    expect(page).to_have_url(f"{keyed_server[0].url}/")
    expect(page.locator("#key")).to_be_visible()
    assert page.evaluate(KEPT) == []


def test_papers_are_found_with_a_key_and_are_not_there_for_another(with_keys, keyed_server):
    with_keys.expect_error("status of 404")
    page = with_keys.open(f"/find?{urlencode({'q': ENGLISH, 'rounds': 0})}")
    enter(page, keyed_server[1]["reader"])
    expect(page.locator("#examples button")).to_have_count(3)
    page.locator("#begin").click()
    expect(hits(page).first).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()
    page.locator("#open-kept").click()
    kept = page.locator("[data-kept] a").first.get_attribute("href")
    other = with_keys.open(kept)
    enter(other, keyed_server[1]["operator"])
    expect(other.locator('[data-problem="unknown-search"]')).to_be_visible()
    page.goto(kept)
    expect(hits(page).first).to_be_visible()


def test_who_comes_with_another_key_finds_nothing_of_the_reader_before(with_keys, keyed_server):
    page = with_keys.open(address(ENGLISH))
    enter(page, keyed_server[1]["reader"])
    settled(page)
    hits(page).first.locator("[data-mark]").check()
    page.locator("#open-access").click()
    with page.expect_event("load"):  # the page is opened anew
        enter(page, keyed_server[1]["operator"])
    expect(page.locator("#operator-link")).to_be_visible()
    expect(page.locator("#marked-count")).to_have_text("")
    settled(page)
    assert page.evaluate("sessionStorage.getItem('shrag-marked')") is None


def test_a_key_that_is_revoked_is_asked_for_again(with_keys, keyed_server):
    server, keys = keyed_server
    page = with_keys.open()
    enter(page, keys["guest"])
    expect(page.locator("#examples button")).to_have_count(3)
    done = shrag("keys", "revoke", keys["guest"].split("_")[1], home=server.home)
    assert done.returncode == 0, done.stderr
    page.locator("#question").fill(ENGLISH)
    # A function that returns a promise is not polled by wait_for_function.
    page.evaluate("""async () => {
        while ((await fetch('/api/v1/indexes')).status !== 401)
            await new Promise((next) => setTimeout(next, 300));
    }""")
    page.locator("#question").press("Enter")
    expect(page.locator("#key")).to_be_visible()


@in_both_languages
def test_the_operator_sees_indexes_keys_and_times(with_keys, keyed_server, language):
    page = with_keys.open("/operator", language=language)
    enter(page, keyed_server[1]["operator"])
    expect(page.locator("#operator")).to_contain_text(NAME)
    expect(page.locator('[data-status="keys"]')).to_contain_text("operator")
    assert keyed_server[1]["operator"] not in page.content()
    expect(page.locator("#status")).not_to_be_empty()


def test_the_operators_view_changes_in_place_and_says_only_what_is_new(with_keys, keyed_server):
    page = with_keys.context().new_page()
    page.clock.install()
    page.goto("/operator")
    enter(page, keyed_server[1]["operator"])
    table = page.locator('[data-status="indexes"] [tabindex]')
    table.focus()
    page.evaluate("document.getElementById('status').textContent = 'read'")
    page.evaluate("document.getElementById('status-time').textContent = ''")
    page.clock.run_for(10_500)
    expect(page.locator("#status-time")).not_to_be_empty()
    expect(table).to_be_focused()
    expect(page.locator("#status")).to_have_text("read")
    done = shrag("keys", "create", "--label", "another", "--expires", "1d", home=keyed_server[0].home)
    assert done.returncode == 0, done.stderr
    page.clock.run_for(10_500)
    expect(page.locator('[data-status="keys"]')).to_contain_text("another")
    expect(page.locator("#status")).to_contain_text("Keys")
    expect(table).to_be_focused()


def test_the_operator_creates_and_revokes_a_key(with_keys, keyed_server):
    page = with_keys.open("/operator", language="en")
    enter(page, keyed_server[1]["operator"])
    keys = page.locator('[data-operation="keys"]')
    keys.get_by_label("Owner").fill("reading room")
    keys.get_by_role("button", name="Create key").click()
    expect(keys.locator("[data-new-key]")).to_contain_text("shrag_")
    page.on("dialog", lambda dialog: dialog.accept())
    owner = keys.get_by_label("Active key")
    expect(owner).to_contain_text("reading room")
    owner.select_option(label=owner.locator("option", has_text="reading room").text_content())
    keys.get_by_role("button", name="Revoke").click()
    expect(owner).not_to_contain_text("reading room")


def test_a_reader_without_the_right_is_told_so(with_keys, keyed_server):
    page = with_keys.open("/operator")
    enter(page, keyed_server[1]["reader"])
    expect(page.get_by_role("dialog")).to_have_count(0)  # the key is taken
    expect(page.locator("#operator [data-problem]")).to_be_visible()
    page.goto("/")
    expect(page.locator("#examples button")).to_have_count(3)
    expect(page.locator("#operator-link")).to_be_hidden()


@in_both_languages
def test_where_no_key_is_needed_the_operators_view_is_open(reader, language):
    page = reader.open(language=language)
    page.locator("#operator-link").click()
    expect(page.locator('[data-status="indexes"]')).to_contain_text(NAME)
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.locator(".tools a").first.click()
    expect(page.locator("#question")).to_be_visible()


@in_both_languages
def test_a_server_that_has_gone_is_told_and_the_search_goes_on_when_it_is_back(reader, language):
    reader.expect_error("ERR_INTERNET_DISCONNECTED")
    page = reader.open(address(ENGLISH), language=language)
    settled(page)
    before = documents(page)
    page.context.set_offline(True)
    page.locator("#question").fill("solid electrolyte")
    page.locator("#question").press("Enter")
    problem = page.locator('[data-problem="offline"]')
    expect(problem).to_be_visible()
    expect(page.locator("#status")).not_to_be_empty()
    expect(page.locator("#question")).to_have_value("solid electrolyte")
    page.context.set_offline(False)
    problem.get_by_role("button").click()
    expect(hits(page).first).to_be_visible()
    assert documents(page) != before


def test_a_server_that_has_stopped_is_told_whatever_is_asked_of_it(browser, sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", **NO_LIMITS) as server:
        reader = Reader(browser, server.url)
        reader.expect_error("ERR_CONNECTION_REFUSED|ERR_")
        page = reader.open()
        expect(page.locator("#examples button")).to_have_count(3)
    page.locator("#open-history").click()
    expect(page.locator("#status")).to_contain_text("The server cannot be reached")
    page.locator("#question").fill(ENGLISH)
    page.locator("#ask").click()
    expect(page.locator('[data-problem="offline"]')).to_be_visible()
    reader.close()


@in_both_languages
def test_a_busy_server_says_when_to_come_back(reader, language):
    reader.expect_error("status of 429")
    page = reader.open(language=language)
    busy = {
        "type": "urn:shrag:problem:too-busy",
        "status": 429,
        "code": "too-busy",
        "detail": "too many wait",
        "retry_after_s": 7.2,
    }
    page.route(
        "**/api/v1/search", lambda route: route.fulfill(status=429, json=busy, headers={"Retry-After": "8"})
    )
    page.locator("#question").fill(ENGLISH)
    page.locator("#question").press("Enter")
    expect(page.locator('[data-problem="too-busy"]')).to_contain_text("8")
    page.unroute("**/api/v1/search")
    page.locator('[data-problem="too-busy"] button').click()
    expect(hits(page)).to_have_count(10)


@in_both_languages
def test_a_limit_that_cannot_be_read_is_explained_in_the_readers_language(reader, language):
    reader.expect_error("status of 422")
    page = reader.open("/?q=battery&year=2024..2019", language=language)
    detail = page.locator('[data-problem="bad-filter"] p.quiet')
    expect(detail).to_contain_text("2019..2024")
    expect(detail).to_have_attribute("lang", language)


def test_without_any_index_the_page_says_so(browser, tmp_path):
    with serving(tmp_path, tmp_path / "log") as server:
        reader = Reader(browser, server.url)
        reader.expect_error("status of 4")
        for language in ("ko", "en"):
            page = reader.open(language=language)
            expect(page.locator("#start-about")).not_to_be_empty()
            page.locator("#question").fill("battery")
            page.locator("#question").press("Enter")
            expect(page.locator("[data-problem]")).to_be_visible()
        reader.close()


def test_language_and_colours_are_kept(reader):
    page = reader.open(address(ENGLISH), color_scheme="light")
    settled(page)
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


def test_the_colours_of_the_system_are_followed(reader):
    grounds = []
    for scheme in ("light", "dark"):
        page = reader.open(color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]


def test_nothing_moves_for_who_wants_no_motion_and_little_for_others(reader):
    for motion, longest in (("no-preference", 0.15), ("reduce", 0.0)):
        page = reader.open(address(ENGLISH, ask=1), reduced_motion=motion)
        answered(page)
        seconds = page.evaluate(
            """() => [...document.querySelectorAll("*")].flatMap((element) => {
              const { animationName, animationDuration, transitionDuration } = getComputedStyle(element);
              return [animationName === "none" ? "0s" : animationDuration, transitionDuration];
            }).map(parseFloat)"""
        )
        assert max(seconds) <= longest


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("ko", "ko"), ("en-US,ko;q=0.5", "en"), ("de,ko;q=0.8,en;q=0.7", "ko"), ("de", "en")],
)
def test_the_page_comes_in_the_readers_language(unlimited, accepted, language):
    page = unlimited.get("/", headers={"Accept-Language": accepted})
    assert page.headers["content-language"] == language
