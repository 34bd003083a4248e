"""Notes: a code, a template in each language, and JSON from which a note is made again."""

import ast
from pathlib import Path
from string import Formatter

import pytest

from base.calls import CODES
from base.notes import templates

ROOT = Path(__file__).parents[2]
DETAILS = {"error", "reason", "fallback"}  # text of programs, in English; other languages may leave it out


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
