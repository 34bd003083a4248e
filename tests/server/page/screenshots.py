"""Takes the pictures that the README shows, on the sample: `python -m tests.server.page.screenshots`."""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, expect

from tests.indexer.made_corpora import ROOT, build
from tests.server.page.browser import PHONE, Reader, chromium
from tests.server.page.walking import address, answered, settled
from tests.server.running import serving

FOLDER = ROOT / "docs" / "images"
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"
EXPANSION = "대규모 언어 모델로 질의를 확장하면 오히려 검색 성능이 나빠지는 때는 언제인가?"
ENGLISH = "Can feedback from generative AI improve student essays as much as comments from a teacher?"
DESK = {"width": 1280, "height": 800}


def citation(page: Page) -> None:
    """Open the passage of the first citation."""
    answered(page)
    settled(page)
    page.locator("[data-cites]").first.click()
    expect(page.locator("[data-passage-beside] mark").first).to_be_visible()


def tree(page: Page) -> None:
    """Find papers, and open why the first one is there."""
    page.locator("#begin").click()
    expect(page.locator("#hits > li").first).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()
    page.locator("#hits .actions button").first.click()
    expect(page.locator("[data-account]")).to_be_visible()


def paper(page: Page) -> None:
    """Open the page of the first paper."""
    settled(page)
    page.locator("#hits h3 a").first.click()
    expect(page.locator("h1")).to_be_visible()
    page.evaluate("history.replaceState(null, '', location.pathname + location.search); scrollTo(0, 0)")


# Of each picture: the address, what prepares it, the language, the size, the colours.
PICTURES: dict[str, tuple[str, Callable[[Page], None], str, Any, str]] = {
    "results": (address(ENGLISH), settled, "en", DESK, "light"),
    "answer": (address(KOREAN, ask=1), citation, "ko", DESK, "light"),
    "paper": (address(KOREAN), paper, "en", DESK, "light"),
    "finding": (f"/find{address(EXPANSION)[1:]}", tree, "ko", DESK, "light"),
    "phone": (address(ENGLISH), settled, "en", PHONE, "dark"),
}


def take(reader: Reader, name: str, folder: Path) -> Path:
    """Take a picture; nothing in it depends on when it is taken but the time that a search took."""
    path, prepare, language, size, colours = PICTURES[name]
    page = reader.open(path, language=language, viewport=size, color_scheme=colours, reduced_motion="reduce")
    prepare(page)
    page.wait_for_load_state("networkidle")
    file = folder / f"{name}.png"
    page.screenshot(path=file, animations="disabled", caret="hide")
    return file


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home:
        build(Path(home), ROOT / "sample" / "papers.jsonl", name="sample")
        with serving(Path(home), Path(home) / "log") as server, chromium() as browser:
            reader = Reader(browser, server.url)
            for name in PICTURES:
                print(take(reader, name, folder))  # noqa: T201 - what a person who calls it wants to see
            reader.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
