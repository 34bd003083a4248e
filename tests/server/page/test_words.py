"""Both languages of the interface say all that the page says."""

import json
import re

import pytest

from server.html.page_files import FOLDER, LANGUAGES, page_files
from server.html.reader import accepted_language

SAID = re.compile(r'\bt\("([^"]+)"')
PLACE = re.compile(r"\{(\w+)")


def words_of(language: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for path in sorted((FOLDER / "words").glob(f"*{language}.json")):
        if path.name != "said.ko.json":
            words |= json.loads(path.read_text("utf-8"))
    return words


def test_both_languages_have_the_same_words_with_the_same_places():
    korean, english = words_of("ko"), words_of("en")
    assert korean.keys() == english.keys()
    for key, text in english.items():
        assert set(PLACE.findall(korean[key])) <= set(PLACE.findall(text)), key


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.js")), ids=lambda path: path.name)
def test_all_that_a_script_says_is_there(script):
    said = set(SAID.findall(script.read_text("utf-8")))
    assert said <= words_of("en").keys()


def test_the_first_view_is_small():
    files = page_files()
    preloaded = re.findall(r'href="[^"]*/([\w.]+)"', files.preloads("main.js", "columns.js"))
    first = ["page.css", "words/ko.json", *preloaded]
    assert sum(len(files.files[name].content) for name in first) < 100_000
    assert sum(len(files.files[name].packed) for name in first) < 60_000


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("en-GB,en;q=0.9", "en"),
        ("fr-FR, ko;q=0.2", "ko"),
        ("fr", "en"),
        ("ko;q=nonsense, en;q=0.1", "en"),
        ("ko;q=0, en", "en"),
        ("", "en"),
        (",;;q=1,ko" * 1000, "ko"),
    ],
)
def test_the_browser_says_which_language(header, language):
    assert accepted_language(header) == language
    assert language in LANGUAGES
