"""The page over sources: chosen beside the indexes, told which leave the house, linked to the web alone."""

import pytest
from playwright.sync_api import expect

from tests.generator.sample_index import ENGLISH, NAME
from tests.http_server import serving as serving_http
from tests.server.page.walking import address, answered, hits, in_both_languages, search, settled, shown
from tests.server.running import NO_LIMITS, serving
from tests.server.test_sources import Theirs, elsewhere, source

ALL = "source:ours,library"


@pytest.fixture(scope="module")
def offering(sample_home, tmp_path_factory):
    log = tmp_path_factory.mktemp("offering") / "log"
    with serving_http(Theirs) as url:
        sources = source("ours", kind="index", index=NAME) | elsewhere("library", url, private="false")
        with serving(sample_home, log, server__sources="ours,library", **sources, **NO_LIMITS) as server:
            yield server


@pytest.fixture
def reader(reading, offering):
    return reading(offering)


@in_both_languages
def test_sources_stand_beside_the_indexes_and_say_where_questions_go(reader, language):
    page = reader.open(language=language)
    choice = page.locator("#index")
    expect(choice.locator("optgroup")).to_have_count(2)
    leaving = {"ko": "외부", "en": "outside"}[language]
    told = choice.locator("option").evaluate_all("all => all.map((each) => [each.value, each.text])")
    assert [value for value, _ in told] == [NAME, "source:ours", "source:library", ALL]
    assert [leaving in text for _, text in told] == [False, False, True, True]
    choice.select_option("source:library")
    expect(page.locator("#quiet")).to_contain_text("library")
    expect(page.locator("#start-about")).to_contain_text("library")
    expect(page.locator("#examples button")).to_have_count(0)
    search(page, ENGLISH)
    expect(hits(page)).to_have_count(1)
    choice.select_option(NAME)
    expect(hits(page)).to_have_count(10)
    expect(page.locator("#quiet")).not_to_contain_text("library")


def test_results_answer_and_exports_show_where_papers_are_from_and_link_to_the_web_alone(reader):
    page = shown(reader, address(ENGLISH, index=ALL, ask=1))
    answered(page)
    foreign = page.locator('[data-doc="library:B17"]')
    expect(foreign.locator(".meta")).to_contain_text("library")
    expect(foreign.locator("h3 a")).to_have_attribute("href", "https://doi.org/10.1234/aero.17")
    own = page.locator('[data-doc="ours:SAMPLE-BAT-011"]')
    expect(own.locator("h3")).not_to_be_empty()
    assert page.locator('#main a[href^="/papers/"], #main a[href^="javascript"]').count() == 0
    expect(page.locator("#facets")).to_be_empty()
    expect(page.locator(".unapi-id")).to_have_count(0)
    page.locator(".cite").first.click()
    expect(page.locator("[data-passage-beside] .passage")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.locator(".cite").first).to_be_focused()
    page.locator("#open-record").click()
    expect(page.locator("dialog[open]")).to_be_visible()
    expect(page.locator("dialog [data-format]")).to_have_count(0)
    page.keyboard.press("Escape")

    page.locator('[data-mark="library:B17"]').check()
    page.locator("#index").select_option(NAME)
    settled(page)
    page.locator("[data-mark]").first.check()
    page.locator("#open-marked").click()
    with (
        page.expect_download(lambda download: download.suggested_filename == "shrag-ours-library.ris"),
        page.expect_download(lambda download: download.suggested_filename == f"shrag-{NAME}.ris"),
    ):
        page.locator("dialog .primary").click()
    expect(page.locator("#status")).to_contain_text("RIS")
