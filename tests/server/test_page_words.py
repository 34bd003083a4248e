"""Both languages of the interface say all that the page says."""

import json
import re

import pytest

from server.html import FOLDER, LANGUAGES, accepted_language
from server.problems import error_classes

SAID = re.compile(r'\bt\("([^"]+)"')
PLACE = re.compile(r"\{(\w+)")


def words_of(language: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for path in sorted((FOLDER / "words").glob(f"*{language}.json")):
        words |= json.loads(path.read_text("utf-8"))
    return words


def test_both_languages_have_the_same_words_with_the_same_places():
    korean, english = words_of("ko"), words_of("en")
    assert korean.keys() == english.keys()
    for key, text in english.items():
        assert set(PLACE.findall(korean[key])) <= set(PLACE.findall(text)), key


def test_all_that_a_script_says_and_every_problem_has_words():
    said = {word for script in FOLDER.glob("*.js") for word in SAID.findall(script.read_text("utf-8"))}
    assert len(said) > 100
    problems = {f"problem_{code}" for code in ("unexpected", *(kind.code for kind in error_classes()))}
    for language in LANGUAGES:
        assert said | problems <= words_of(language).keys()


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
