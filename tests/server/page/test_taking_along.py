"""What a reader takes along: references, search records, the history; what literature managers read."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import docx
from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.retriever.reading_exports import by_rispy
from tests.server.page.walking import (
    HOW,
    QUESTIONS,
    address,
    documents,
    hits,
    in_both_languages,
    keywords,
    search,
    settled,
    shown,
)


def saved(page: Page, button) -> str:
    """Return what a button gives as a file."""
    with page.expect_download() as begun:
        button.click()
    return str(begun.value.path().read_bytes(), "utf-8")


def titles(text: str) -> list[str]:
    """Read the titles of an export as RIS."""
    return [paper.title for paper in by_rispy(text)]


@in_both_languages
def test_papers_marked_over_several_searches_are_exported_together(reader, language):
    page = shown(reader, address(ENGLISH), language=language)
    wanted = [page.locator("#hits h3").nth(place).inner_text() for place in (0, 2)]
    for place in (0, 2):
        page.locator("[data-mark]").nth(place).check()
    expect(page.locator("#marked-count")).to_have_text("2")
    search(page, KOREAN)
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
    assert sorted(titles(text)) == sorted(wanted)
    dialog.locator("li button").first.click()
    expect(dialog.get_by_role("link")).to_have_text(wanted[1:])
    page.keyboard.press("Escape")
    expect(page.locator("#open-marked")).to_be_focused()
    expect(page.locator("#marked-count")).to_have_text("2")


@in_both_languages
def test_a_reference_is_copied_in_the_chosen_style(reader, unlimited, language):
    page = shown(
        reader, address(ENGLISH), language=language, permissions=["clipboard-read", "clipboard-write"]
    )
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
def test_a_search_record_is_saved_to_read_and_runs_again(reader, language, tmp_path):
    given = address(
        ENGLISH, k=5, year="2015..2024", way="shrag", hops="auto", model="small-writer", **{"not": "sodium"}
    )
    page = shown(reader, given + HOW, language=language)
    words = keywords(page)
    remove = page.locator(f'[data-keyword="{words[0]}"]').get_by_role("button").last
    remove.click()
    expect(page.locator(f'[data-keyword="{words[0]}"]')).to_have_count(0)
    page.locator('[data-query="SQ1"]').get_by_role("checkbox").uncheck()
    expect(page).to_have_url(re.compile("skip="))
    settled(page)
    listed, where = documents(page), page.url.removesuffix(HOW)

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
    expect(hits(other)).to_have_count(len(listed))
    settled(other)
    assert documents(other) == listed
    asked = [parse_qs(page_url.partition("?")[2]) for page_url in (where, other.url)]
    assert {**asked[1], "index": None} == {**asked[0], "index": None}


@in_both_languages
def test_a_feed_of_a_search_has_a_name_and_all_papers_is_copied_and_deleted(reader, unlimited, language):
    page = shown(
        *(reader, address(QUESTIONS[language])),
        language=language,
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.locator("#open-record").click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".feeds input:not([readonly])").fill(f"신착 {language}")
    dialog.locator("[data-feed-create]").click()
    own = dialog.locator("[data-feed]").filter(has_text=f"신착 {language}")
    expect(own).to_have_count(1)
    expect(own).to_contain_text(QUESTIONS[language])
    made = dialog.locator("input[readonly]").input_value()
    dialog.locator(".feeds input[readonly]").locator("xpath=../following-sibling::button").click()
    page.wait_for_function("text => navigator.clipboard.readText().then((it) => it === text)", arg=made)
    feed = urlsplit(made).path
    assert unlimited.get(feed).headers["content-type"] == "application/atom+xml"
    assert unlimited.get(feed).text.count("<entry>") > hits(page).count()

    own.get_by_role("button").click()

    expect(own).to_have_count(0)
    assert unlimited.get(feed).status_code == 404


@in_both_languages
def test_a_papers_page_has_its_top_in_view_the_tools_and_a_way_back(reader, language):
    page = shown(reader, address(ENGLISH), language=language, viewport={"width": 390, "height": 500})
    page.locator("#hits [data-mark]").first.check()
    title = page.locator("#hits h3 a").nth(1)
    wanted, where = title.inner_text(), page.url
    title.click()
    expect(page.locator("main h1")).to_have_text(wanted)
    expect(page.locator("main h1")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    page.locator("#menu").click()
    page.locator("#open-marked").click()
    expect(page.get_by_role("dialog").get_by_role("link")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator("dl a[href*='author']").first.click()
    expect(hits(page).first).to_contain_text(wanted)
    page.go_back()
    page.locator("#back").click()
    expect(page).to_have_url(where)
    settled(page)


@in_both_languages
def test_the_history_is_opened_saved_and_cleared(reader, language):
    page = shown(reader, address(ENGLISH), language=language)
    first = documents(page)
    search(page, KOREAN)
    expect(hits(page).first).not_to_have_attribute("data-doc", first[0])
    settled(page)
    page.locator("#open-history").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link")).to_have_text([KOREAN, ENGLISH])
    kept = json.loads(saved(page, dialog.get_by_role("button").nth(-2)))
    assert [each["question"] for each in kept["history"]] == [KOREAN, ENGLISH]
    dialog.get_by_role("link").last.click()
    expect(page.locator("#question")).to_have_value(ENGLISH)
    expect(hits(page).first).to_have_attribute("data-doc", first[0])
    page.locator("#open-history").click()
    dialog.get_by_role("button").last.click()
    expect(dialog.get_by_role("link")).to_have_count(0)
    page.reload()
    settled(page)
    page.locator("#open-history").click()
    expect(dialog.get_by_role("link")).to_have_count(1)


def test_print_gives_question_search_results_and_answer_and_no_buttons(reader):
    page = shown(reader, address(ENGLISH, ask=1))
    page.emulate_media(media="print")
    for part in ("#question", "#queries", "#hits > li", "#answer [data-sentence]", ".print-only"):
        expect(page.locator(part).first).to_be_visible()
    for part in (".tools", "#results-tools", ".actions", ".add", "#facets"):
        expect(page.locator(part).first).to_be_hidden()
    last = page.locator("#answer-body .colophon").bounding_box()
    assert last
    assert last["y"] + last["height"] <= page.evaluate("document.documentElement.scrollHeight")
    assert page.pdf().startswith(b"%PDF")
