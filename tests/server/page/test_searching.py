"""A search on the page: its first view, its address, an expression, its widths, its print."""

from playwright.sync_api import Page, expect

from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.page.browser import PHONE, WIDE, findings
from tests.server.page.walking import address, documents, hits, in_both_languages, search, settled, shown


@in_both_languages
def test_an_example_is_asked_in_the_language_of_the_browser(reader, language):
    page = reader.open(language=language)
    examples = page.locator("#examples button")
    expect(examples).to_have_count(3)
    text = examples.nth(1).inner_text()
    examples.nth(1).click()
    expect(page.locator("#question")).to_have_value(text)
    expect(hits(page)).to_have_count(10)
    settled(page)
    langs = page.locator("#hits h3").evaluate_all("all => all.map((each) => each.lang)")
    assert set(langs) <= {"ko", "en"}
    expect(page.locator("#hits")).not_to_contain_text("query_")  # every query has its name in the language


def first_is(page: Page, document: str) -> None:
    """Wait until a paper is the first one."""
    expect(hits(page).first).to_have_attribute("data-doc", document)


def test_the_address_opens_the_same_again_for_others_and_on_the_way_back(reader):
    page = reader.open()
    page.locator("#options-toggle").click()
    page.locator("#k").fill("5")
    page.locator("#year").fill("2015..2024")
    page.locator("#exclude").fill("sodium")
    search(page, ENGLISH)
    expect(hits(page)).to_have_count(5)
    first, shown = page.url, documents(page)

    search(page, KOREAN)
    expect(page.locator("#question")).to_have_value(KOREAN)
    expect(hits(page).first).not_to_have_attribute("data-doc", shown[0])
    second, others = page.url, documents(page)
    for move, url, ids in ((page.go_back, first, shown), (page.go_forward, second, others)):
        move()
        first_is(page, ids[0])
        assert (page.url, documents(page)) == (url, ids)
    page.reload()
    settled(page)
    assert documents(page) == others

    copied = reader.open(first.removeprefix(reader.url), language="ko")
    expect(hits(copied)).to_have_count(5)
    assert documents(copied) == shown
    expect(copied.locator("#year")).to_have_value("2015..2024")
    expect(copied.locator("#exclude")).to_have_value("sodium")


@in_both_languages
def test_an_expression_finds_papers_and_an_error_stands_under_its_word(reader, language):
    reader.expect_error("status of 422")
    page = reader.open(language=language, bypass_csp=True)
    page.locator("#options-toggle").click()
    page.locator("#expert").click()
    expect(page.locator("#expert-help")).to_be_visible()
    search(page, "thermal AND (battery")
    word = page.locator("#expression-error mark")
    expect(word).to_have_text("(battery")
    expect(page.locator("#question")).to_have_attribute("aria-invalid", "true")
    selected = page.locator("#question").evaluate(
        "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    )
    assert selected == "(battery"
    assert findings(page) == []

    page.locator("#question").fill("battery AND NOT sodium")
    expect(page.locator("#expression-error")).to_be_empty()
    search(page, "battery NOT sodium")
    expect(hits(page).first).to_be_visible()
    expect(page.locator("#question")).not_to_have_attribute("aria-invalid", "true")
    page.reload()
    expect(hits(page).first).to_be_visible()
    expect(page.locator("#expert")).to_have_attribute("aria-pressed", "true")


def test_on_a_phone_filters_results_and_answer_are_shown_in_turn(reader):
    page = reader.open(address(ENGLISH), viewport=PHONE)
    expect(hits(page).first).to_be_visible()
    for part in ("#how", "#filters", "#answer", "#tools"):
        expect(page.locator(part)).to_be_hidden()
    for part, button in {"#how": "#open-how", "#filters": "#open-filters", "#tools": "#menu"}.items():
        page.locator(button).click()
        expect(page.locator(part)).to_be_visible()
    page.locator("#menu").click()
    page.locator("#ask").click()
    expect(page.locator("#answer")).to_be_visible()
    expect(hits(page).first).to_be_hidden()
    page.locator('[data-show="results"]').click()
    expect(hits(page).first).to_be_visible()


def test_no_width_and_so_no_size_of_text_scrolls_sideways(reader):
    page = shown(reader, address(KOREAN, ask=1))
    for width in (320, 390, 640, 768, 1024, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 800})
        for view in ("results", "answer"):
            if page.locator(f'[data-show="{view}"]').is_visible():
                page.locator(f'[data-show="{view}"]').click()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, view)


def test_print_gives_question_search_results_and_answer_and_no_buttons(reader):
    page = shown(reader, address(ENGLISH, ask=1), viewport=WIDE)
    page.emulate_media(media="print")
    for part in ("#question", "#queries", "#hits > li", "#answer [data-sentence]", ".print-only"):
        expect(page.locator(part).first).to_be_visible()
    for part in (".tools", "#results-tools", ".actions", ".add", "#facets"):
        expect(page.locator(part).first).to_be_hidden()
    last = page.locator("#answer-body .colophon").bounding_box()
    assert last
    assert last["y"] + last["height"] <= page.evaluate("document.documentElement.scrollHeight")


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
