"""A search for papers on the page goes on: further, and after its server went away in the middle."""

import os
import signal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.server.page.browser import NO_LIMITS, Reader
from tests.server.page.finding import finding
from tests.server.page.test_finding_papers import address, begin, ended, papers, tree
from tests.server.page.walking import QUESTIONS, hits, in_both_languages
from tests.server.running import serving, wait_for
from tests.service.processes import free_ports


@pytest.fixture(scope="module")
def model():
    with finding() as model:
        yield model


@pytest.fixture
def started(sample_home, tmp_path, model):
    """Return what starts a server of the sample, always at the same port."""
    home = tmp_path / "home"
    home.mkdir()
    for path in sample_home.glob("[!.]*"):  # without the server's store
        (home / path.name).symlink_to(path)

    [port] = free_ports(1)

    def start():
        return serving(home, tmp_path / "log", "--port", str(port), **NO_LIMITS, **model.settings)

    yield start
    model.go_on()


@pytest.fixture
def in_the_middle(browser: Browser, model):
    """Return what opens a page whose search has found papers, and waits for its model."""
    readers = []

    def search(url: str, language: str = "en") -> Page:
        model.hold("evolver")
        reader = Reader(browser, url)
        readers.append(reader)
        reader.expect_error("ERR_")
        page = reader.context(language=language).new_page()
        page.clock.install()
        page.goto(address(QUESTIONS[language], papers=100))
        begin(page)
        expect(hits(page).first).to_be_visible()
        return page

    yield search
    for reader in readers:
        reader.close()


def expect_broken(page: Page, code: str) -> None:
    """Expect one message, and a way to go on that is at hand."""
    expect(page.locator(f'[data-ending="failed"] [data-problem="{code}"]')).to_be_visible()
    expect(page.locator("[data-problem]")).to_have_count(1)
    expect(page.locator("[data-problem] button")).to_have_count(0)  # that begins anew
    expect(page.locator('[data-key="go-on"]')).to_be_focused()


@in_both_languages
def test_what_was_found_stays_when_the_server_is_killed_and_is_gone_on_with_when_it_is_back(
    started, in_the_middle, model, language
):
    with started() as server:
        page = in_the_middle(server.url, language)
        found, grown = papers(page), tree(page)
        os.kill(server.process.pid, signal.SIGKILL)
        expect_broken(page, "find-cut-off")
        page.keyboard.press("Enter")
        expect_broken(page, "offline")
        assert papers(page)[: len(found)] == found
        assert set(grown) <= set(tree(page))
    model.go_on()
    with started() as server:
        kept = f"/api/v1/find-papers/{page.evaluate('history.state.search')}"
        wait_for(
            lambda: server.get(kept).json(), lambda search: not search["running"]
        )  # until the lease ends
        page.keyboard.press("Enter")
        ended(page)
        expect(page.locator("[data-ending]")).to_have_count(0)
        assert set(found) <= set(papers(page))
        assert set(grown) < set(tree(page))  # evolved queries came
        page.context.close()
