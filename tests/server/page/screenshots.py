"""Takes the pictures that the README shows, on the sample: `python -m tests.server.page.screenshots`."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, expect

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import ROOT
from tests.server.page.browser import PHONE, Reader, chromium
from tests.server.page.walking import address, answered, settled
from tests.server.running import serving

FOLDER = ROOT / "docs" / "images"
MOST_BYTES = 300_000
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


@dataclass(frozen=True)
class Picture:
    """A view of the page, and how it is come to."""

    path: str
    prepare: Callable[[Page], None]
    language: str
    size: Mapping[str, int] = field(default_factory=lambda: DESK)
    colours: str = "light"


PICTURES = {
    "results": Picture(address(ENGLISH), settled, "en"),
    "answer": Picture(address(KOREAN, ask=1), citation, "ko"),
    "paper": Picture(address(KOREAN), paper, "en"),
    "finding": Picture(f"/find{address(EXPANSION)[1:]}", tree, "ko"),
    "phone": Picture(address(ENGLISH), settled, "en", PHONE, "dark"),
}


def take(reader: Reader, name: str, folder: Path) -> Path:
    """Take a picture; nothing in it depends on when it is taken but the time that a search took."""
    picture = PICTURES[name]
    page = reader.open(
        picture.path,
        language=picture.language,
        viewport=picture.size,
        color_scheme=picture.colours,
        reduced_motion="reduce",
    )
    picture.prepare(page)
    page.wait_for_load_state("networkidle")
    file = folder / f"{name}.png"
    page.screenshot(path=file, animations="disabled", caret="hide")
    if (size := file.stat().st_size) > MOST_BYTES:
        raise SystemExit(f"{file} has {size:,} bytes, of at most {MOST_BYTES:,}")
    return file


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home:
        done = shrag("index", str(ROOT / "sample" / "papers.jsonl"), "--name", "sample", home=Path(home))
        if done.returncode:
            raise SystemExit(done.stderr)
        with serving(Path(home), Path(home) / "log") as server, chromium() as browser:
            reader = Reader(browser, server.url)
            for name in PICTURES:
                print(take(reader, name, folder))  # noqa: T201 - what a person who calls it wants to see
            reader.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
