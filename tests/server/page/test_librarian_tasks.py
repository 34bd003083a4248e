"""Thirty tasks of a librarian, each in at most as many clicks as in VuFind.

The numbers of TASKS are the clicks in VuFind's default theme: its search form, facets, toolbar of the result
list, record view, book bag and search history. Typing and Enter are no clicks; a choice of a menu is one, and
so is a drag.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import docx
import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN
from tests.needs import mostly_nightly
from tests.server.page.axe import findings
from tests.server.page.walking import address, answered, documents, hits, search, settled

DESK = {"width": 1366, "height": 768}


@dataclass
class Librarian:
    """Works on the page, and counts the clicks."""

    page: Page
    folder: Path
    clicks: int = 0

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

    def ask(self, question: str) -> None:
        """Type a question and press Ctrl+Enter."""
        self.page.locator("#question").fill(question)
        self.page.locator("#question").press("Control+Enter")
        answered(self.page)
        settled(self.page)

    def save(self, place: Locator | str) -> Path:
        """Click on what gives a file, and return the file."""
        with self.page.expect_download() as begun:
            self.click(place)
        file: Download = begun.value
        path = self.folder / file.suggested_filename
        file.save_as(path)
        return path

    def open_first(self) -> None:
        """Open the page of the first paper."""
        self.click("#hits h3 a")
        self.page.wait_for_url(re.compile("/papers/"))


def total(page: Page) -> int:
    return int(re.findall(r"\d+", page.locator("#total").inner_text())[-1])


def narrowed(librarian: Librarian, facet: str) -> None:
    librarian.search(ENGLISH)
    before = total(librarian.page)
    librarian.click(f'[data-facet="{facet}"] button')
    settled(librarian.page)
    expect(librarian.page.locator(f'[data-facet="{facet}"] [aria-pressed="true"]')).to_have_count(1)
    assert 0 < total(librarian.page) < before


def find_by_a_question(librarian):
    librarian.search(KOREAN)
    assert hits(librarian.page).count() == 10


def find_in_the_other_language(librarian):
    librarian.search("배터리 열폭주")
    langs = hits(librarian.page).evaluate_all("items => items.map((item) => item.querySelector('h3').lang)")
    assert {"ko", "en"} <= set(langs)


def find_a_known_title(librarian):
    librarian.search("Alternate wetting and drying in Korean rice paddies")
    assert documents(librarian.page)[0] == "SAMPLE-AGR-002"


def find_a_phrase_in_titles(librarian):
    librarian.click("#options-toggle")
    librarian.click("#expert")
    librarian.search('title:"thermal runaway"')
    expect(librarian.page.locator("#hits h3 mark").first).to_be_visible()


def find_by_a_form_of_fields(librarian):
    librarian.click("#options-toggle")
    librarian.click("#expert")
    rows = librarian.page.locator(".boolean-rows input")
    rows.nth(0).fill("battery")
    rows.nth(1).fill("thermal")
    librarian.page.locator("#question").press("Enter")
    settled(librarian.page)
    assert "AND" in librarian.page.locator("#question").input_value()


def find_by_an_author(librarian):
    librarian.click("#options-toggle")
    librarian.page.locator("#author").fill("Boram Jang")
    librarian.search("rice")
    expect(librarian.page.locator("#hits .meta").first).to_contain_text("Boram Jang")


def see_how_many_there_are(librarian):
    librarian.search(ENGLISH)
    assert total(librarian.page) > 10


def see_the_next_papers(librarian):
    librarian.search(ENGLISH)
    librarian.click("#more button")
    expect(hits(librarian.page)).not_to_have_count(10)


def sort_by_year(librarian):
    librarian.search(ENGLISH)
    librarian.choose("#sort", "year")
    settled(librarian.page)
    expect(librarian.page).to_have_url(re.compile("sort=year"))


def narrow_by_years(librarian):
    librarian.search(ENGLISH)
    before = total(librarian.page)
    librarian.clicks += 1
    librarian.page.locator('[data-facet="year"] input').first.fill("2020")  # as if dragged there
    expect(librarian.page).to_have_url(re.compile("year="))
    settled(librarian.page)
    assert total(librarian.page) < before


def narrow_by_language(librarian):
    narrowed(librarian, "lang")


def narrow_by_journal(librarian):
    narrowed(librarian, "journal")


def narrow_by_author(librarian):
    narrowed(librarian, "author")


def drop_a_filter(librarian):
    librarian.page.goto(address(ENGLISH, lang="ko"))
    settled(librarian.page)
    librarian.click("[data-condition] button")
    expect(librarian.page).not_to_have_url(re.compile("lang="))


def read_a_record(librarian):
    librarian.search(ENGLISH)
    librarian.open_first()
    expect(librarian.page.locator("h1")).to_be_visible()


def read_a_korean_paper_in_both_languages(librarian):
    librarian.search("논물 관리 메탄")
    librarian.open_first()
    expect(librarian.page.locator('[lang="ko"]').first).to_be_visible()
    expect(librarian.page.locator('main [lang="en"]').first).to_be_attached()


def see_similar_papers(librarian):
    librarian.search(ENGLISH)
    librarian.open_first()
    before = librarian.page.url
    librarian.click(librarian.page.locator("main.paper ol a, main.paper ul a").last)
    librarian.page.wait_for_url(lambda url: url != before)


def find_why_a_paper_is_first(librarian):
    librarian.search(ENGLISH)
    librarian.click("#hits .actions button")
    expect(librarian.page.locator("#hits .inset-place").first).not_to_be_empty()


def cite_a_paper(librarian):
    librarian.search(ENGLISH)
    librarian.click(hits(librarian.page).first.get_by_role("button", name=re.compile("^Cite")))
    expect(librarian.page.locator("[data-cited]")).not_to_be_empty()


def cite_a_paper_in_another_style(librarian):
    cite_a_paper(librarian)
    librarian.choose("[data-styles]", "vancouver")
    expect(librarian.page.locator("[data-cited]")).not_to_be_empty()


def export_the_list_for_zotero(librarian):
    librarian.search(ENGLISH)
    assert librarian.save('[data-key="export"]').read_text("utf-8").startswith("TY  - ")


def export_the_list_as_bibtex(librarian):
    librarian.search(ENGLISH)
    librarian.choose("#results-tools select", "bibtex")
    assert "@article" in librarian.save('[data-key="export"]').read_text("utf-8")


def export_one_paper(librarian):
    cite_a_paper(librarian)
    link = librarian.page.locator("#hits .inset").get_by_role("link", name="RIS")
    assert librarian.save(link).read_text("utf-8").count("TY  - ") == 1


def save_a_reference_list_for_word(librarian):
    librarian.search(ENGLISH)
    librarian.choose("#results-tools select", "docx")
    made = librarian.save('[data-key="export"]')
    assert len(docx.Document(str(made)).paragraphs) >= 10


def mark_papers_and_export_them(librarian):
    librarian.search(ENGLISH)
    for place in range(3):
        librarian.click(librarian.page.locator("[data-mark]").nth(place))
    librarian.click("#open-marked")
    made = librarian.save(librarian.page.get_by_role("dialog").locator(".primary"))
    assert made.read_text("utf-8").count("TY  - ") == 3


def return_to_an_earlier_search(librarian):
    librarian.search(ENGLISH)
    librarian.search(KOREAN)
    librarian.click("#open-history")
    librarian.click(librarian.page.get_by_role("dialog").get_by_role("link", name=ENGLISH))
    expect(librarian.page.locator("#question")).to_have_value(ENGLISH)


def share_a_search(librarian):
    librarian.search(ENGLISH)
    shown = documents(librarian.page)
    librarian.page.goto(librarian.page.url)
    settled(librarian.page)
    assert documents(librarian.page) == shown


def document_a_search(librarian):
    librarian.search(ENGLISH)
    librarian.click("#open-record")
    made = librarian.save('[role="dialog"] [data-format="docx"], dialog [data-format="docx"]')
    assert docx.Document(str(made)).tables


def answer_a_question_and_cite_the_answer(librarian):
    librarian.ask(ENGLISH)
    librarian.click("[data-cite-answer]")
    made = librarian.save('#answer-body [data-format="docx"]')
    assert any(ENGLISH in each.text for each in docx.Document(str(made)).paragraphs)


def use_the_page_in_korean(librarian):
    librarian.search(ENGLISH)
    librarian.click('[data-language="ko"]')
    expect(librarian.page.locator("html")).to_have_attribute("lang", "ko")
    settled(librarian.page)


TASKS: dict[Callable[[Librarian], None], int] = {
    find_by_a_question: 0,
    find_in_the_other_language: 0,
    find_a_known_title: 0,
    find_a_phrase_in_titles: 2,  # Advanced, the choice of the field
    find_by_a_form_of_fields: 2,  # Advanced, Find
    find_by_an_author: 2,  # Advanced, the choice of the field
    see_how_many_there_are: 0,
    see_the_next_papers: 1,
    sort_by_year: 1,
    narrow_by_years: 1,
    narrow_by_language: 1,
    narrow_by_journal: 1,
    narrow_by_author: 1,
    drop_a_filter: 1,
    read_a_record: 1,
    read_a_korean_paper_in_both_languages: 1,
    see_similar_papers: 2,  # the record, the paper
    find_why_a_paper_is_first: 1,  # VuFind has none
    cite_a_paper: 2,  # the record, Cite this
    cite_a_paper_in_another_style: 2,  # all styles are in the dialog
    export_the_list_for_zotero: 4,  # all, Export, the format, Export
    export_the_list_as_bibtex: 4,
    export_one_paper: 3,  # the record, Export, the format
    save_a_reference_list_for_word: 2,  # VuFind has none
    mark_papers_and_export_them: 7,  # three papers, the book bag, all, Export, the format
    return_to_an_earlier_search: 2,  # the history, the search
    share_a_search: 0,
    document_a_search: 2,  # VuFind has none
    answer_a_question_and_cite_the_answer: 2,  # VuFind has none
    use_the_page_in_korean: 2,  # the menu, the language
}
BY_DAY = {
    find_by_a_form_of_fields,
    narrow_by_years,
    export_the_list_for_zotero,
    mark_papers_and_export_them,
    document_a_search,
    return_to_an_earlier_search,
    cite_a_paper,
    see_similar_papers,
}


@pytest.mark.parametrize("task", mostly_nightly(TASKS, by_day=BY_DAY), ids=lambda task: task.__name__)
def test_a_task_needs_at_most_as_many_clicks_as_in_vufind_and_is_accessible(reader, tmp_path, task):
    librarian = Librarian(reader.open(viewport=DESK, bypass_csp=True, reduced_motion="reduce"), tmp_path)
    task(librarian)
    assert librarian.clicks <= TASKS[task]
    assert findings(librarian.page) == []
