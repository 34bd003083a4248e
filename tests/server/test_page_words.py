"""Both languages of the interface say all that the page says."""

import json
import re

import pytest

from server.html.page_files import FOLDER, LANGUAGES, page_files
from server.html.pages import accepted_language
from server.problems import error_classes

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


def said_in_korean(text: str) -> str | None:
    """Return the Korean words of what the server says, as the page finds them."""
    patterns = json.loads((FOLDER / "words" / "said.ko.json").read_text("utf-8"))
    for pattern, words in patterns.items():
        if found := re.search(pattern, text):
            return re.sub(r"\$(\d)", lambda group: found[int(group[1])] or "", words)
    return None


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ({"question": ""}, ""),
        ({"question": "x" * 20_001}, "20,001"),
        ({"question": "rice", "year": "soon"}, "soon"),
        ({"question": "rice", "year": "2024..2019"}, "2019..2024"),
        ({"question": "rice", "year": "12"}, ""),
        ({"question": "rice", "lang": "fr"}, "fr"),
        ({"question": "rice", "k": 0}, "body.k"),
        ({"question": "rice", "k": "many"}, "body.k"),
        ({"question": 7}, "body.question"),
        ({}, "body.question"),
        ({"question": "rice", "method": "guess"}, "guess"),
        ({"question": "rice", "method": "dense"}, ""),
        ({"question": "rice", "keywords": [""]}, ""),
        ({"question": "rice", "skip": ["SQ99"]}, "SQ99"),
        ({"question": "rice", "index": "nowhere"}, "nowhere"),
    ],
)
def test_what_is_wrong_with_a_search_is_said_in_korean(api, body, held):
    detail = api.post("/api/v1/search", json=body).json()["detail"]
    assert held in (said_in_korean(detail) or f"no words for: {detail}")


@pytest.mark.parametrize(("name", "value"), [("model", "other"), ("way", "round")])
def test_what_is_wrong_with_a_question_is_said_in_korean(api, name, value):
    detail = api.post("/api/v1/ask", json={"question": "rice", name: value}).json()["detail"]
    assert value in (said_in_korean(detail) or f"no words for: {detail}")


def test_a_reference_list_that_is_too_long_is_said_in_korean(api):
    call = {"format": "docx", "question": "rice", "k": 300}
    assert "200" in (said_in_korean(api.post("/api/v1/export", json=call).json()["detail"]) or "")


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ({"question": "rice", "way": "stroll"}, "stroll"),
        ({"question": "rice", "way": "paper-qa-1", "method": "or"}, "paper-qa-1"),
        ({"question": "rice", "way": "paper-qa-1", "keywords": ["rice"]}, "paper-qa-1"),
        ({"question": "rice", "way": "paper-qa-1", "skip": ["SQ1"]}, "paper-qa-1"),
        ({"question": "rice", "way": "shrag", "topic": "X1"}, "shrag"),
        ({"question": "rice", "way": "paper-qa-1", "topic": "X1"}, "X1"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said_in_korean(api, body, held):
    detail = api.post("/api/v1/ask", json=body).json()["detail"]
    assert held in (said_in_korean(detail) or f"no words for: {detail}")


@pytest.mark.parametrize(
    "call",
    [
        {"way": "paper-qa-6"},
        {"way": "paper-qa-1", "topic": "SAMPLE-BAT-011"},
        {"strategy": {"en": ["of"], "exclude": [{"en": "barley"}], "years": [2000, None]}},
        {"method": "or", "exclude": ["rice"]},
    ],
    ids=str,
)
def test_what_a_way_or_several_steps_note_is_said_in_korean(api, call):
    question = "Which barley mildew fungicide did the author of the aerogel paper test?"
    notes = api.post("/api/v1/ask", json=call | {"question": question}).json()["notes"]
    assert notes
    for note in notes:
        assert said_in_korean(note), note
