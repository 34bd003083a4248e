"""Thirty tasks of a librarian in seven groups, each task in at most as many clicks as in VuFind.

The number of a task is that of the clicks in VuFind's default theme: its search form, facets, toolbar of the
result list, record view, book bag and search history. Typing and Enter are no clicks; a choice of a menu is
one, and so is a drag. Each group ends with the rules of axe, on a page that shows much.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.retriever.reading_exports import by_rispy
from tests.server.page.browser import findings
from tests.server.page.walking import HOW, address, answered, documents, hits, keywords, search, settled

DESK = {"width": 1366, "height": 768}


@dataclass
class Librarian:
    """Works on the page, and counts the clicks of each task."""

    page: Page
    folder: Path
    clicks: int = 0

    @contextmanager
    def task(self, most: int, question: str = "", **asked: object) -> Iterator[None]:
        """Begin on the first page, with a question if one is given; fails above that many clicks."""
        self.page.goto(address(question, **asked) if question or asked else "/")
        if question:
            settled(self.page)
        self.clicks = 0
        yield
        assert self.clicks <= most

    def click(self, place: Locator | str) -> None:
        """Click once."""
        self.clicks += 1
        (self.page.locator(place).first if isinstance(place, str) else place).click()

    def choose(self, place: str, value: str) -> None:
        """Choose a value of a menu."""
        self.clicks += 1
        self.page.locator(place).first.select_option(value)

    def search(self, question: str) -> None:
        """Type a question and press Enter."""
        search(self.page, question)
        settled(self.page)

    def save(self, place: Locator | str) -> Path:
        """Click on what gives a file, and return the file."""
        with self.page.expect_download() as begun:
            self.click(place)
        path = self.folder / begun.value.suggested_filename
        begun.value.save_as(path)
        return path

    def saved_titles(self, place: Locator | str) -> list[str]:
        """Click on what gives an export as RIS, and return the titles in it."""
        return [paper.title for paper in by_rispy(self.save(place).read_text("utf-8"))]

    @property
    def total(self) -> int:
        """The number of papers that the page says there are."""
        return int(re.findall(r"\d+", self.page.locator("#total").inner_text())[-1])


@pytest.fixture
def librarian(reader, tmp_path):
    given = {"bypass_csp": True, "reduced_motion": "reduce", "viewport": DESK}
    librarian = Librarian(reader.open(permissions=["clipboard-read", "clipboard-write"], **given), tmp_path)
    yield librarian
    assert findings(librarian.page) == []


def texts(page: Page, place: str) -> list[str]:
    return page.locator(place).all_inner_texts()


def test_find(librarian):
    page = librarian.page
    with librarian.task(0):  # by a question
        librarian.search(KOREAN)
        assert hits(page).count() == 10
        for part in ("h3", ".snippet"):
            expect(page.locator(f"#hits {part} mark").first).to_be_visible()
        expect(page.locator("#status")).to_contain_text("10")
        assert KOREAN[:20] in page.title()
    with librarian.task(0):  # in the other language
        librarian.search("배터리 열폭주")
        langs = hits(page).evaluate_all("items => items.map((item) => item.querySelector('h3').lang)")
        assert {"ko", "en"} <= set(langs)
    with librarian.task(0):  # a known title
        librarian.search("Alternate wetting and drying in Korean rice paddies")
        assert documents(page)[0] == "SAMPLE-AGR-002"
    with librarian.task(2):  # by an author: Advanced, the choice of the field
        librarian.click("#options-toggle")
        page.locator("#author").fill("Boram Jang")
        librarian.search("rice")
        expect(page.locator("#hits .meta").first).to_contain_text("Boram Jang")
    with librarian.task(2):  # a phrase in titles: Advanced, the choice of the field
        librarian.click("#options-toggle")
        librarian.click("#expert")
        librarian.search('title:"thermal runaway"')
        expect(page.locator("#hits h3 mark").first).to_be_visible()


def test_find_by_a_form_of_fields(librarian):
    page = librarian.page
    with librarian.task(2):  # Advanced, Find
        librarian.click("#options-toggle")
        librarian.click("#expert")
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


def test_narrow_and_sort(librarian):
    page = librarian.page
    for facet in ("year", "lang", "journal", "author"):
        with librarian.task(1, "battery", k=50):
            value = page.locator(f'[data-facet="{facet}"] button:not(:disabled)').last
            said = int(re.findall(r"\d+", value.get_attribute("aria-label") or value.inner_text())[-1])
            librarian.click(value)
            expect(page.locator(f"#{facet}")).not_to_have_value("")
            expect(hits(page)).to_have_count(said)
            expect(page.locator(f'[data-facet="{facet}"] [aria-pressed="true"]')).to_have_count(1)
    with librarian.task(1, ENGLISH):  # by years, as if dragged there
        before = librarian.total
        librarian.clicks += 1
        page.locator('[data-facet="year"] input').first.fill("2020")
        expect(page).to_have_url(re.compile("year="))
        settled(page)
        assert 10 < librarian.total < before
    with librarian.task(1, ENGLISH, lang="ko"):  # drop a filter
        librarian.click("[data-condition] button")
        expect(page).not_to_have_url(re.compile("lang="))
    with librarian.task(1, ENGLISH):
        librarian.choose("#sort", "year")
        settled(page)
        expect(page).to_have_url(re.compile("sort=year"))
    with librarian.task(1, ENGLISH):  # the next papers
        librarian.click("#more button")
        expect(hits(page)).not_to_have_count(10)


def test_read(librarian):
    page = librarian.page
    with librarian.task(1, ENGLISH):  # why a paper is first; VuFind has none
        librarian.click("#hits .actions button")
        account = hits(page).first.locator("[data-explanation]")
        expect(account.locator(".parts .number").first).to_have_text(re.compile(r"\d"))
        scores = account.locator("tbody td:last-child").all_inner_texts()
        assert scores == sorted(scores, key=float, reverse=True)
        assert findings(page) == []
    with librarian.task(2, "논물 관리 메탄"):  # a record in both languages, a similar one
        librarian.click("#hits h3 a")
        page.wait_for_url(re.compile("/papers/"))
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator('main [lang="en"]').first).to_be_attached()
        before = page.url
        librarian.click(page.locator("main.paper ol a, main.paper ul a").last)
        page.wait_for_url(lambda url: url != before)
    with librarian.task(2, ENGLISH):  # the menu, the language
        librarian.click('[data-language="ko"]')
        expect(page.locator("html")).to_have_attribute("lang", "ko")
        settled(page)


def test_cite(librarian, unlimited):
    page = librarian.page
    with librarian.task(4, ENGLISH):  # the record, Cite this, the style, Copy
        hit = hits(page).first
        librarian.click(hit.get_by_role("button", name=re.compile("^Cite")))
        librarian.choose("[data-styles]", "vancouver")
        call = {"format": "text", "cite": "vancouver", "ids": hit.get_attribute("data-doc")}
        reference = unlimited.get("/api/v1/export", params=call).text.strip()
        expect(page.locator("[data-cited]")).to_have_text(reference)
        librarian.click("[data-copy]")
        copied = "text => navigator.clipboard.readText().then((copied) => copied === text)"
        page.wait_for_function(copied, arg=reference)
        [title] = librarian.saved_titles(page.locator("#hits .inset").get_by_role("link", name="RIS"))
        assert title == hit.locator("h3").inner_text()
    with librarian.task(2):  # an answer; VuFind has none
        page.locator("#question").fill(ENGLISH)
        page.locator("#question").press("Control+Enter")
        answered(page)
        librarian.click("[data-cite-answer]")
        made = librarian.save('#answer-body [data-format="docx"]')
        assert any(ENGLISH in each.text for each in docx.Document(str(made)).paragraphs)


def test_export(librarian):
    page = librarian.page
    with librarian.task(4, ENGLISH):  # all, Export, the format, Export
        assert len(librarian.saved_titles('[data-key="export"]')) == hits(page).count() == 10
    for style, begins in (("bibtex", b"@"), ("docx", b"PK")):  # a reference list for Word has none in VuFind
        with librarian.task(2, ENGLISH):
            librarian.choose("#results-tools select", style)
            assert librarian.save('[data-key="export"]').read_bytes().startswith(begins)
    with librarian.task(7, ENGLISH):  # three papers, the book bag, all, Export, the format
        for place in (0, 2):
            librarian.click(page.locator("[data-mark]").nth(place))
        wanted = [texts(page, "#hits h3")[place] for place in (0, 2)]
        librarian.search(KOREAN)
        expect(page.locator("#hits h3").first).not_to_have_text(wanted[0])
        settled(page)
        librarian.click("[data-mark]")
        wanted.append(texts(page, "#hits h3")[0])
        page.reload()
        settled(page)
        expect(page.locator("[data-mark]").first).to_be_checked()
        librarian.click("#open-marked")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("link")).to_have_text(wanted)
        assert sorted(librarian.saved_titles(dialog.locator(".primary"))) == sorted(wanted)
    dialog.locator("li button").first.click()
    expect(page.locator("#marked-count")).to_have_text("2")


def test_return_and_keep(librarian, unlimited):
    page = librarian.page
    with librarian.task(2, ENGLISH):  # the history, the search
        shown = documents(page)
        librarian.search(KOREAN)
        expect(hits(page).first).not_to_have_attribute("data-doc", shown[0])
        librarian.click("#open-history")
        librarian.click(page.get_by_role("dialog").get_by_role("link", name=ENGLISH))
        expect(page.locator("#question")).to_have_value(ENGLISH)
        expect(hits(page).first).to_have_attribute("data-doc", shown[0])
    page.locator("#open-history").click()
    dialog = page.get_by_role("dialog")
    saved = json.loads(librarian.save(dialog.get_by_role("button").nth(-2)).read_text("utf-8"))
    assert [each["question"] for each in saved["history"]][:2] == [ENGLISH, KOREAN]
    dialog.get_by_role("button").last.click()
    expect(dialog.get_by_role("link")).to_have_count(0)

    with librarian.task(3, ENGLISH):  # a feed and its address; VuFind has the same without the last
        librarian.click("#open-record")
        dialog.locator(".feeds input:not([readonly])").fill("신착 도서")
        librarian.click("[data-feed-create]")
        made = dialog.locator("input[readonly]").input_value()
        librarian.click(dialog.locator("input[readonly]").locator("xpath=../following-sibling::button"))
        page.wait_for_function("text => navigator.clipboard.readText().then((it) => it === text)", arg=made)
        feed = unlimited.get(made.removeprefix(unlimited.url))
        assert feed.headers["content-type"] == "application/atom+xml"
        assert feed.text.count("<entry>") > hits(page).count()
    own = dialog.locator("[data-feed]").filter(has_text="신착 도서")
    expect(own).to_contain_text(ENGLISH)
    own.get_by_role("button").click()
    expect(own).to_have_count(0)
    assert unlimited.get(made.removeprefix(unlimited.url)).status_code == 404


def test_document_a_search_that_runs_again(librarian, reader):
    page = librarian.page
    given = address(ENGLISH, k=5, year="2015..2024", way="shrag", hops="auto", **{"not": "sodium"})
    page.goto(given + HOW)
    settled(page)
    first, *_ = keywords(page)
    page.locator(f'[data-keyword="{first}"]').get_by_role("button").last.click()
    expect(page.locator(f'[data-keyword="{first}"]')).to_have_count(0)
    page.locator('[data-query="SQ1"]').get_by_role("checkbox").uncheck()
    expect(page).to_have_url(re.compile("skip="))
    settled(page)
    shown, where = documents(page), page.url.removesuffix(HOW)
    librarian.click("#open-record")
    dialog = page.get_by_role("dialog")
    assert docx.Document(str(librarian.save(dialog.locator('[data-format="docx"]')))).tables
    assert ENGLISH in librarian.save(dialog.locator('[data-format="markdown"]')).read_text("utf-8")
    record = librarian.save(dialog.locator('[data-format="json"]'))
    assert json.loads(record.read_text("utf-8"))["index"]["name"] == NAME

    other = reader.open()
    other.locator("#open-record").click()
    with other.expect_request("**/api/v1/rerun") as sent:  # what a form cannot say holds too
        other.get_by_role("dialog").locator("input[type=file]").set_input_files(record)
    assert sent.value.post_data_json == json.loads(record.read_text("utf-8"))
    expect(hits(other)).to_have_count(len(shown))
    settled(other)
    assert documents(other) == shown
    other.goto(where)  # the same search by its address
    settled(other)
    assert documents(other) == shown
