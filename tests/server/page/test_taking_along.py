"""A feed of a search, and the page of a paper with the tools and a way back."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.generator.sample_index import ENGLISH
from tests.server.page.walking import QUESTIONS, address, hits, in_both_languages, settled, shown


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
