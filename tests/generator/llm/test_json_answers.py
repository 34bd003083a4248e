"""Values found in what a model writes, and the schema that is sent with a call."""

from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from generator.llm.reading import UnreadableAnswer, json_schema, read_answer
from tests.generator.language_model import (
    says,
)
from tests.generator.river import River, ask


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "낙동강", "length": 510}\n```',
        'Here is the river:\n\n{"name": "낙동강", "length": 510}\n\nIs there anything else?',
        '<think>The Han? {"name": "한강", "length": 494}. No.</think>\n{"name": "낙동강", "length": 510}',
        'The Han is shorter.\n</think>\n\n{"name": "낙동강", "length": 510}',
        'The shape {name, length} is wanted: {"name": "낙동강", "length": 510}',
        'First {"name": "한강", "length": 494}, corrected: {"name": "낙동강", "length": 510}',
        '[{"name": "낙동강", "length": 510}]',
        '{"name": "낙동강", "length": "510"}',
        'So:\n```json\n{"name": "낙동강", "length": 510,}\n```',
        '\n {"length": 510, "name": "낙동강", "source": "한강 말고"}',
    ],
    ids=["fence", "prose", "think", "think-unopened", "braces", "last", "list", "digits", "comma", "more"],
)
def test_the_value_is_found_in_what_a_server_without_schemas_writes(text):
    script, reply = ask(says(text))
    assert reply.value == River(name="낙동강", length=510)
    assert (len(script.requests), reply.repaired, reply.text) == (1, False, text)


def test_a_thinking_tag_inside_a_string_is_text():
    assert read_answer('{"name": "a</think>b", "length": 1}', River).name == "a</think>b"


def test_commas_inside_strings_stay_where_one_before_a_bracket_goes():
    assert read_answer('{"name": "a,] b,}", "length": 1,\n}', River).name == "a,] b,}"


def test_a_line_break_inside_a_string_is_let_through():
    assert read_answer('{"name": "낙동\n강", "length": 1}', River).name == "낙동\n강"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"name": "낙동', "the JSON breaks off before its end"),
        ('{"name": "낙동강", ', "the JSON breaks off before its end"),
        ("I cannot tell.", "there is no JSON object in it"),
        ("<think>Let me see: {", "there is no JSON object in it"),
        ('{"name": "", "length": 1}', "name: String should have at least 1 character"),
        ('{"name": "낙동강"}', "length: Field required"),
        ('{"name": 낙동강}', "not JSON: Expecting value at character 9"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_an_unreadable_answer_says_what_is_wrong(text, complaint):
    with pytest.raises(UnreadableAnswer) as caught:
        read_answer(text, River)
    assert str(caught.value) == complaint


@given(st.text() | st.text(alphabet='{}[]",:a1 \n<think>/'))
def test_reading_never_fails_otherwise(text):
    found: River | str
    try:
        found = read_answer(text, River)
    except UnreadableAnswer as unreadable:
        found = str(unreadable)
    assert found


class Sentence(BaseModel):
    text: Annotated[str, Field(max_length=500)]
    citations: Annotated[list[int], Field(max_length=5)] = []


class Essay(BaseModel):
    title: Annotated[str, Field(max_length=100, title="Title of the essay")]
    body: Annotated[list[Sentence], Field(max_length=8, description="one sentence each")]
    mood: Literal["sure", "unsure"] = "sure"


def test_a_schema_is_written_without_references_and_with_all_properties():
    assert json_schema(Essay) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 100},
            "body": {
                "type": "array",
                "maxItems": 8,
                "description": "one sentence each",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "maxLength": 500},
                        "citations": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
                    },
                    "required": ["text", "citations"],
                    "additionalProperties": False,
                },
            },
            "mood": {"type": "string", "enum": ["sure", "unsure"]},
        },
        "required": ["title", "body", "mood"],
        "additionalProperties": False,
    }
