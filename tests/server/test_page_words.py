"""Both languages of the interface say all that the page says."""

import json
import re

import pytest

from base.notes import with_codes
from server.html import FOLDER, LANGUAGES, accepted_language, page_files
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


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.js")), ids=lambda path: path.name)
def test_all_that_a_script_says_is_there(script):
    said = set(SAID.findall(script.read_text("utf-8")))
    assert said <= words_of("en").keys()


def test_the_first_view_is_small():
    files = page_files()
    preloaded = files.modules("main.js", "columns.js")
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


def test_every_problem_that_a_reader_meets_has_words_in_both_languages():
    codes = {"unexpected", *(kind.code for kind in error_classes())}
    for language in LANGUAGES:
        assert {f"problem_{code}" for code in codes} <= words_of(language).keys()


@pytest.mark.parametrize(
    ("call", "codes"),
    [
        ({"way": "paper-qa-6"}, {"passages_by_words"}),
        ({"way": "paper-qa-1", "topic": "SAMPLE-BAT-011"}, {"passages_filled_in"}),
        (
            {"strategy": {"en": ["of"], "exclude": [{"en": "barley"}], "years": [2000, None]}},
            {"nothing_in_keywords"},
        ),
        ({"method": "or", "exclude": ["rice"]}, {"strategy_ignored"}),
    ],
    ids=str,
)
def test_every_note_of_an_answer_has_a_code(api, call, codes):
    question = "Which barley mildew fungicide did the author of the aerogel paper test?"
    answer = api.post("/api/v1/ask", json=call | {"question": question}).json()
    assert codes <= {code["code"] for code in answer["note_codes"]}
    assert with_codes(answer["notes"], answer["note_codes"]) == answer["notes"]
