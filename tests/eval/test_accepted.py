"""Files of accepted strings."""

import pytest

from eval.accepted import read_accepted
from eval.errors import BadTopics


def read(tmp_path, text):
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    return read_accepted(path)


def test_each_line_has_the_strings_of_a_topic(tmp_path):
    first = '{"query_id": "Q1", "answers": ["37%", " 37 % "], "note": "x"}'
    second = '{"query_id": "Q2", "answers": ["a"]}'
    assert read(tmp_path, f"{first}\n\n{second}\n") == {"Q1": ["37%", "37 %"], "Q2": ["a"]}


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        '{"query_id": "Q2"}',
        '{"query_id": "Q2", "answers": []}',
        '{"query_id": "Q2", "answers": [" "]}',
        '{"query_id": "Q2", "answers": "37%"}',
        '{"query_id": "Q1", "answers": ["37%"]}',
    ],
)
def test_an_invalid_line_is_named(tmp_path, line):
    with pytest.raises(BadTopics) as raised:
        read(tmp_path, f'{{"query_id": "Q1", "answers": ["a"]}}\n{line}\n')
    assert "answers.jsonl:2: " in str(raised.value)


def test_a_file_without_strings_is_refused(tmp_path):
    with pytest.raises(BadTopics):
        read(tmp_path, "\n")
