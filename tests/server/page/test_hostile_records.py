"""Papers whose every field tries to run something: the page shows them as text, and nothing runs."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.indexer.made_corpora import build, write_jsonl
from tests.server.page.walking import address, hits, in_both_languages, settled, shown
from tests.server.running import NO_LIMITS, serving

SCRIPT = "<script>window.ran = 1</script>"
IMAGE = '"><img src=x onerror="window.ran = 1">'
LINK = "javascript:window.ran=1"
SPRITE = "<svg/onload=window.ran=1>'-window.ran-'"
TURNED = "\u202e\u2066RTL\u2069"
PLACE = "{{title}} ${window.ran=1} </textarea></title></script>"
ALL = f"{SCRIPT} {IMAGE} {SPRITE} {TURNED} {PLACE}"
ID = 'H-1"><script>window.ran=1</script>'


def hostile(number: int) -> dict[str, object]:
    """Make a paper of which every field is hostile."""
    return {
        "id": f"{ID}{number}" if number else "H-0",
        "title": f"flood {ALL} {number}",
        "title2": f"홍수 {ALL} {number}",
        "abstract": f"Flood levels rose by {number + 2} m. {ALL} Flood barriers {LINK} held for a day.",
        "abstract2": f"홍수 수위가 {number + 2} m 올랐다. {ALL}",
        "authors": [f"Flood {SCRIPT}", f"{IMAGE}, Anna", TURNED],
        "year": 2000 + number,
        "journal": f"Flood {SPRITE}{TURNED}{number % 2}",
        "publisher": ALL,
        "keywords": [SCRIPT, IMAGE, LINK],
        "doi": f'10.5555/{LINK}"><script>window.ran=1</script>{number}',
        "url": LINK,
        "source": ALL,
        "references": [f"{ID}9", f"{ID}{1 - number}" if number != 1 else "H-0"],
    }


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory):
    home = tmp_path_factory.mktemp("hostile")
    build(home, write_jsonl(home / "papers.jsonl", map(hostile, range(6))), name="hostile")
    with serving(home, home / "log", **NO_LIMITS) as server:
        yield server


@pytest.fixture
def hostile_reader(reading, hostile_server):
    return reading(hostile_server)


def nothing_ran(page: Page) -> bool:
    """Whether none of the texts was taken for a script or an element."""
    return (
        bool(page.evaluate("window.ran === undefined && !document.querySelector('img, svg, main script')"))
        and page.locator('a[href^="javascript" i]').count() == 0
    )


@in_both_languages
def test_results_answer_and_dialogs_show_hostile_records_as_text(hostile_reader, language):
    page = shown(hostile_reader, address(f"flood levels {SCRIPT}", ask=1), language=language)
    expect(page.locator("#hits h3").first).to_contain_text(SCRIPT)
    expect(page.locator("#hits .meta").first).to_contain_text("Flood <script>")
    for button in hits(page).first.locator(".actions > button").all():
        button.click()
    expect(hits(page).first.locator(".inset")).to_have_count(2)
    page.locator("[data-cites]").first.click()
    expect(page.locator("[data-passage-beside]")).to_contain_text(SCRIPT)
    page.keyboard.press("Escape")
    page.locator("[data-mark]").first.check()
    for dialog in ("#open-marked", "#open-history", "#open-record"):
        page.locator(dialog).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
    page.locator('[data-facet="journal"] button').first.click()
    expect(page.locator("[data-condition]")).to_contain_text("<svg")
    settled(page)
    assert nothing_ran(page)
    assert SCRIPT in page.title()


def test_an_address_can_make_nothing_run(hostile_reader):
    hostile_reader.expect_error("status of 4")
    page = hostile_reader.open()
    for value in (SCRIPT, IMAGE, SPRITE, PLACE, LINK, f"{TURNED}flood"):
        strategy = json.dumps({"en": [value]})
        filters = dict.fromkeys(("year", "lang", "journal"), value)
        for path in (
            address(f"flood {value}", strategy=strategy, **filters),
            address(value, method="boolean", index=value),
        ):
            page.goto(path)
            settled(page)
            assert nothing_ran(page)
        page.goto(f"/papers/{value.replace('/', '%2F')}?index={value.replace('#', '')}")
        assert nothing_ran(page)
