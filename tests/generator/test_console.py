"""What a terminal shows while a question is being answered."""

import pytest

from generator.answers.model_answer import readable
from generator.console import live_progress
from generator.llm import Growth
from generator.tracing import Step


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ('{"ti', ""),
        ('{"title": "A riv', "A riv"),
        (
            '{"title": "A", "introduction": [{"text": "One.", "citations": [1]}], "body": [{"text": "Tw',
            "A\nOne.\nTw",
        ),
        ("<think>no", ""),
        ("{]", ""),
        ('{"title": 7, "body": [1, {"text": null}]}', ""),
    ],
)
def test_an_answer_can_be_read_before_its_end(text, shown):
    assert readable(text) == shown


def test_growing_text_is_shown_on_a_terminal_and_nowhere_else(monkeypatch, capsys):
    with live_progress() as listener:
        assert listener is None
    monkeypatch.setenv("FORCE_COLOR", "1")
    with live_progress() as listener, Step("ask", listener=listener).step("answer") as step:
        assert step.on_text
        step.on_text(Growth('{"title": "A\\u001b[31m river', 7))
    assert "answer: 7 tokens  A [31m river" in capsys.readouterr().err
