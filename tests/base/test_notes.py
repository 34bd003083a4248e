"""Notes: a code, a template in each language, and JSON from which a note is made again."""

import ast
import copy
import pickle
from pathlib import Path
from string import Formatter

import pytest
from pydantic import TypeAdapter

from base.calls import CODES
from base.errors import ResourceError
from base.notes import Note, SavedNote, note_codes, note_in, templates, with_codes

ROOT = Path(__file__).parents[2]
DETAILS = {"error", "reason", "fallback"}  # text of programs, in English; other languages may leave it out
MENTIONS = Note("mention_excluded", excluded="rice", mentioning=2, shown=9)


def values_of(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def literal_notes() -> dict[str, list[set[str]]]:
    """Return the codes that the source names in `Note("code", …)`, each with the names of its values."""
    found: dict[str, list[set[str]]] = {}
    for folder in ("base", "retriever", "generator", "server"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.Call(ast.Name("Note"), [ast.Constant(value)], keywords):
                        found.setdefault(str(value), []).append({each.arg or "**" for each in keywords})
    return found


@pytest.mark.parametrize("code", templates("en"))
def test_each_code_has_a_template_in_each_language_with_the_same_values(code):
    english, korean = values_of(templates("en")[code]), values_of(templates("ko")[code])
    assert english - DETAILS == korean - DETAILS
    assert korean <= english


def test_no_language_has_other_codes():
    assert templates("en").keys() == templates("ko").keys()


def test_each_note_of_the_source_has_the_values_of_its_template():
    found = literal_notes()
    assert len(found) > 90
    for code, calls in found.items():
        for given in calls:
            assert "**" in given or given == values_of(templates("en")[code]), code


def test_each_error_of_a_field_has_a_template():
    assert set(CODES.values()) <= templates("en").keys()


def test_a_note_is_its_english_sentence():
    assert MENTIONS == "2 of 9 hits mention rice"
    assert MENTIONS.in_language("ko") == "결과 9편 가운데 2편에 rice에 대한 언급이 있습니다."


@pytest.mark.parametrize("copied", [copy.deepcopy(MENTIONS), pickle.loads(pickle.dumps(MENTIONS))])
def test_a_copy_is_a_note(copied):
    assert copied == MENTIONS
    assert copied.as_code() == {
        "code": "mention_excluded",
        "values": {"excluded": "rice", "mentioning": 2, "shown": 9},
    }


def test_notes_are_made_again_from_json():
    notes = [MENTIONS, "a model's own words"]
    codes = note_codes(notes)
    assert codes[1] is None
    again = with_codes([str(note) for note in notes], codes)
    assert again == notes
    assert isinstance(again[0], Note)


def test_a_saved_text_stays_a_note():
    saved = TypeAdapter(list[SavedNote])
    again = saved.validate_json(saved.dump_json([MENTIONS, "text"]))
    assert again == [MENTIONS, "text"]
    assert note_codes(again) == note_codes([MENTIONS, "text"])


def test_an_error_gives_its_note():
    assert isinstance(note_in(ResourceError(MENTIONS, remedy="ask again")), Note)
    assert note_in(ResourceError("broken", remedy="mend it")) == "broken; mend it"
    assert note_in(ResourceError("broken"), "in one line") == "in one line"
