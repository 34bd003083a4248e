"""What a reader takes along: references, search records, the history; what literature managers read."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import docx
import pytest
from defusedxml import ElementTree
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.retriever.reading_exports import by_pybtex, by_rispy
from tests.server.page.walking import (
    HOW,
    QUESTIONS,
    address,
    answered,
    documents,
    hits,
    in_both_languages,
    keywords,
    settled,
)

ENDINGS = {"ris": "ris", "bibtex": "bib", "csl-json": "json", "csv": "csv", "jsonl": "jsonl"}


def saved(page: Page, button) -> str:
    """Return what a button gives as a file."""
    with page.expect_download() as begun:
        button.click()
    return str(begun.value.path().read_bytes(), "utf-8")


def titles(format_: str, text: str) -> list[str]:
    """Read the titles of an export."""
    if format_ == "ris":
        return [paper.title for paper in by_rispy(text)]
    if format_ == "bibtex":
        return [paper.title for paper in by_pybtex(text)]
    if format_ == "csl-json":
        return [paper["title"] for paper in json.loads(text)]
    if format_ == "jsonl":
        return [json.loads(line)["title"] for line in text.splitlines()]
    assert text.startswith("\ufeff")
    return text.splitlines()[1:]


@pytest.mark.parametrize("format_", ENDINGS)
def test_all_results_are_exported(reader, format_):
    page = reader.open(address(KOREAN, k=4), language="ko")
    settled(page)
    page.locator("#results-tools select").select_option(format_)
    shown = page.locator("#hits h3").all_inner_texts()
    text = saved(page, page.locator('[data-key="export"]'))
    exported = titles(format_, text)
    assert len(exported) == len(shown) == 4
    if format_ != "csv":
        assert exported == shown
    for title, line in zip(shown, exported, strict=True):
        assert title in line


@in_both_languages
def test_papers_marked_over_several_searches_are_exported_together(reader, language):
    page = reader.open(address(ENGLISH), language=language)
    settled(page)
    wanted = [page.locator("#hits h3").nth(place).inner_text() for place in (0, 2)]
    for place in (0, 2):
        page.locator("[data-mark]").nth(place).check()
    expect(page.locator("#marked-count")).to_have_text("2")
    page.locator("#question").fill(KOREAN)
    page.locator("#question").press("Enter")
    expect(page.locator("#hits h3").first).not_to_have_text(wanted[0])
    settled(page)
    page.locator("[data-mark]").first.check()
    wanted.append(page.locator("#hits h3").first.inner_text())
    page.reload()
    settled(page)
    expect(page.locator("[data-mark]").first).to_be_checked()
    page.locator("#open-marked").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link")).to_have_text(wanted)
    text = saved(page, dialog.locator(".primary"))
    assert sorted(titles("ris", text)) == sorted(wanted)
    dialog.locator("li button").first.click()
    expect(dialog.get_by_role("link")).to_have_text(wanted[1:])
    page.keyboard.press("Escape")
    expect(page.locator("#open-marked")).to_be_focused()
    expect(page.locator("#marked-count")).to_have_text("2")


def test_a_reference_is_shown_and_its_files_are_linked(reader):
    page = reader.open(address(ENGLISH))
    settled(page)
    hit = hits(page).first
    hit.get_by_role("button", name=re.compile("^Cite")).click()
    inset = hit.locator(".inset")
    expect(inset).to_contain_text(hit.locator("h3").inner_text())
    with page.expect_download() as begun:
        inset.get_by_role("link", name="BibTeX").click()
    text = begun.value.path().read_text("utf-8")
    assert titles("bibtex", text) == [hit.locator("h3").inner_text()]


@in_both_languages
def test_a_reference_is_copied_in_the_chosen_style(reader, unlimited, language):
    page = reader.open(address(ENGLISH), language=language, permissions=["clipboard-read", "clipboard-write"])
    settled(page)
    hit = hits(page).first
    hit.get_by_role("button", name={"en": re.compile("^Cite"), "ko": re.compile("^인용")}[language]).click()
    inset = hit.locator(".inset")
    first = {"en": "apa", "ko": "korean"}[language]
    expect(inset.locator("[data-styles]")).to_have_value(first)
    for style in (first, "vancouver", "mla"):
        inset.locator("[data-styles]").select_option(style)
        call = {"format": "text", "cite": style, "ids": hit.get_attribute("data-doc")}
        reference = unlimited.get("/api/v1/export", params=call).text.strip()
        expect(inset.locator("[data-cited]")).to_have_text(reference)
        inset.locator("[data-copy]").click()
        page.wait_for_function(
            "text => navigator.clipboard.readText().then((copied) => copied === text)", arg=reference
        )


@in_both_languages
def test_an_answer_is_cited_with_its_references_and_saved_as_word(reader, language, tmp_path):
    page = reader.open(address(QUESTIONS[language], ask=1), language=language)
    answered(page)
    settled(page)
    page.locator("[data-cite-answer]").click()
    shown = page.locator("#answer-body [data-cited]")
    heading = {"en": "References", "ko": "참고 문헌"}[language]
    expect(shown).to_contain_text(heading)
    sentence = page.locator("#answer [data-sentence] > span").first.inner_text()
    expect(shown).to_contain_text(sentence)
    with page.expect_download() as begun:
        page.locator('#answer-body [data-format="docx"]').click()
    begun.value.save_as(tmp_path / "answer.docx")
    texts = [paragraph.text for paragraph in docx.Document(str(tmp_path / "answer.docx")).paragraphs]
    assert QUESTIONS[language] in texts
    assert any(sentence in text for text in texts)
    assert heading in texts


def test_a_reference_list_of_all_results_is_saved_in_a_style(reader):
    page = reader.open(address(ENGLISH, k=3))
    settled(page)
    page.locator("#results-tools select").select_option("text")
    page.locator("#results-tools [data-styles]").select_option("ieee")
    lines = saved(page, page.locator('[data-key="export"]')).splitlines()
    assert [line[:4] for line in lines] == ["[1] ", "[2] ", "[3] "]


@in_both_languages
def test_a_paper_is_cited_on_its_page_also_without_scripts(reader, language):
    page = reader.open(address(ENGLISH), language=language)
    settled(page)
    first_paper(page)
    title = page.locator("h1").inner_text()
    page.locator("#cite button").click()
    expect(page.locator("[data-cited]")).to_contain_text(title)
    plain = reader.open(urlsplit(page.url).path + "?index=sample", java_script_enabled=False)
    with plain.expect_download() as begun:
        plain.locator("#cite").get_by_role("link", name="APA 7").click()
    assert title in begun.value.path().read_text("utf-8")


def test_every_hit_holds_what_literature_managers_read(reader):
    page = reader.open(address(KOREAN))
    settled(page)
    contexts = page.locator("#hits .Z3988")
    expect(contexts).to_have_count(10)
    shown = page.locator("#hits h3").all_inner_texts()
    for title, context in zip(shown, contexts.all(), strict=True):
        assert parse_qs(context.get_attribute("title"))["rft.atitle"] == [title]


def first_paper(page: Page) -> None:
    page.locator("#hits h3 a").first.click()
    page.wait_for_url(re.compile("/papers/"))


@in_both_languages
def test_a_paper_has_a_page_with_tags_coins_and_unapi(reader, unlimited, language):
    page = reader.open(address(QUESTIONS[language]), language=language)
    settled(page)
    title = page.locator("#hits h3").first.inner_text()
    first_paper(page)
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator("html")).to_have_attribute("lang", language)

    def tags(name: str) -> list[str]:
        found = page.locator(f'meta[name="{name}"]')
        return list(found.evaluate_all("tags => tags.map((tag) => tag.content)"))

    assert tags("citation_title") == [title]
    assert tags("citation_author")
    assert re.fullmatch(r"\d{4}", tags("citation_publication_date")[0])
    (context,) = page.locator(".Z3988").all()
    assert parse_qs(context.get_attribute("title"))["rft.atitle"] == [title]

    unapi = page.locator('link[rel="unapi-server"]').get_attribute("href")
    identifier = page.locator("abbr.unapi-id").get_attribute("title")
    listed = unlimited.get(unapi, params={"id": identifier})
    assert listed.status_code == 300
    formats = [each.get("name") for each in ElementTree.fromstring(listed.text)]
    assert set(ENDINGS) <= set(formats)
    given = unlimited.get(unapi, params={"id": identifier, "format": "ris"})
    assert titles("ris", given.text) == [title]


def test_a_papers_page_shows_its_record_passages_and_neighbours(reader):
    page = reader.open(address(ENGLISH))
    settled(page)
    passage = hits(page).first.get_attribute("data-passage")
    first_paper(page)
    assert page.url.endswith(f"#{passage}")
    expect(page.locator(f'[data-passage="{passage}"]')).to_be_in_viewport()
    expect(page.locator("[data-passage] .passage[lang]").first).to_be_visible()
    similar = page.locator(".papers a").first
    name = similar.inner_text()
    similar.click()
    expect(page.locator("h1")).to_have_text(name)
    page.go_back()
    page.go_back()
    expect(hits(page)).to_have_count(10)
    with page.expect_download() as begun:
        first_paper(page)
        page.get_by_role("link", name="RIS", exact=True).click()
    assert titles("ris", begun.value.path().read_text("utf-8")) == [page.locator("h1").inner_text()]


def test_a_paper_is_marked_on_its_page(reader):
    page = reader.open(address(ENGLISH))
    settled(page)
    first_paper(page)
    page.locator("[data-mark]").check()
    page.go_back()
    expect(page.locator("#marked-count")).to_have_text("1")
    expect(page.locator("[data-mark]").first).to_be_checked()


@in_both_languages
def test_a_paper_that_there_is_not_is_told_as_a_page(reader, language):
    reader.expect_error("status of 404")
    page = reader.open("/papers/nope", language=language)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("main")).to_contain_text("nope")


@in_both_languages
def test_a_search_record_is_saved_to_read_and_runs_again(reader, language, tmp_path):
    given = address(
        ENGLISH, k=5, year="2015..2024", way="shrag", hops="auto", model="small-writer", **{"not": "sodium"}
    )
    page = reader.open(given + HOW, language=language)
    settled(page)
    words = keywords(page)
    remove = page.locator(f'[data-keyword="{words[0]}"]').get_by_role("button").last
    remove.click()
    expect(page.locator(f'[data-keyword="{words[0]}"]')).to_have_count(0)
    page.locator('[data-query="SQ1"]').get_by_role("checkbox").uncheck()
    expect(page).to_have_url(re.compile("skip="))
    settled(page)
    shown, where = documents(page), page.url.removesuffix(HOW)

    page.locator("#open-record").click()
    dialog = page.get_by_role("dialog")
    report = saved(page, dialog.locator('[data-format="markdown"]'))
    assert ENGLISH in report
    with page.expect_download() as begun:
        dialog.locator('[data-format="docx"]').click()
    begun.value.save_as(tmp_path / "record.docx")
    (items, *_) = docx.Document(str(tmp_path / "record.docx")).tables
    assert ENGLISH in [row.cells[2].text for row in items.rows]
    record = saved(page, dialog.locator('[data-format="json"]'))
    assert json.loads(record)["index"]["name"] == NAME
    file = tmp_path / "record.json"
    file.write_text(record, "utf-8")

    other = reader.open(language=language)
    other.locator("#open-record").click()
    with other.expect_request("**/api/v1/rerun") as sent:  # what a form cannot say holds too
        other.get_by_role("dialog").locator("input[type=file]").set_input_files(file)
    assert sent.value.post_data_json == json.loads(record)
    expect(hits(other)).to_have_count(len(shown))
    settled(other)
    assert documents(other) == shown
    asked = [parse_qs(page_url.partition("?")[2]) for page_url in (where, other.url)]
    assert {**asked[1], "index": None} == {**asked[0], "index": None}


@in_both_languages
def test_a_feed_of_a_search_is_created_and_deleted(reader, unlimited, language):
    page = reader.open(address(QUESTIONS[language]), language=language)
    settled(page)
    page.locator("#open-record").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("[data-feed-create]").click()
    own = dialog.locator("[data-feed]").filter(has_text=QUESTIONS[language])
    expect(own).to_have_count(1)
    feed = urlsplit(dialog.locator("input[readonly]").input_value()).path
    assert unlimited.get(feed).headers["content-type"] == "application/atom+xml"

    own.get_by_role("button").click()

    expect(own).to_have_count(0)
    assert unlimited.get(feed).status_code == 404


def test_a_file_that_is_no_record_is_told(reader, tmp_path):
    page = reader.open()
    page.locator("#open-record").click()
    dialog = page.get_by_role("dialog")
    for name, text in {
        "a.json": "{}",
        "b.json": "[1",
        "c.json": '{"search_record": 1, "request": 7}',
    }.items():
        (tmp_path / name).write_text(text)
        dialog.locator("input[type=file]").set_input_files(tmp_path / name)
        expect(dialog.locator(".error")).to_be_visible()


@in_both_languages
def test_the_history_is_opened_saved_and_cleared(reader, language):
    page = reader.open(address(ENGLISH), language=language)
    settled(page)
    first = documents(page)
    page.locator("#question").fill(KOREAN)
    page.locator("#question").press("Enter")
    page.wait_for_function(
        "first => document.querySelector('#hits > li')?.dataset.doc !== first", arg=first[0]
    )
    settled(page)
    page.locator("#open-history").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link")).to_have_text([KOREAN, ENGLISH])
    kept = json.loads(saved(page, dialog.get_by_role("button").nth(-2)))
    assert [each["question"] for each in kept["history"]] == [KOREAN, ENGLISH]
    dialog.get_by_role("link").last.click()
    expect(page.locator("#question")).to_have_value(ENGLISH)
    page.wait_for_function(
        "first => document.querySelector('#hits > li')?.dataset.doc === first", arg=first[0]
    )
    page.locator("#open-history").click()
    dialog.get_by_role("button").last.click()
    expect(dialog.get_by_role("link")).to_have_count(0)
    page.reload()
    settled(page)
    page.locator("#open-history").click()
    expect(dialog.get_by_role("link")).to_have_count(1)


def test_print_gives_question_search_results_and_answer_and_no_buttons(reader):
    page = reader.open(address(ENGLISH, ask=1))
    answered(page)
    settled(page)
    page.emulate_media(media="print")
    for part in (
        "#question",
        "#strategy .chips",
        "#queries",
        "#hits > li",
        "#answer [data-sentence]",
        ".print-only",
    ):
        expect(page.locator(part).first).to_be_visible()
    for part in (".tools", "#results-tools", ".actions", ".add", "#facets"):
        expect(page.locator(part).first).to_be_hidden()
    last = page.locator("#answer-body .colophon").bounding_box()
    assert last["y"] + last["height"] <= page.evaluate("document.documentElement.scrollHeight")
    assert page.pdf().startswith(b"%PDF")
