"""Values of topics in JSON lines besides the question."""

import gzip

import pytest
from pydantic import TypeAdapter

from eval.errors import BadTopics
from eval.experiments.topic_values import topic_values
from eval.files import Input

NUMBER = TypeAdapter(int)
LINES = '\ufeff{"query_id": "a", "n": 1}\n\n{"_id": " e\u0301 ", "n": 2}\r\n{"id": 3, "n": null}\n'.encode()


def read(content):
    topics = Input("topics.jsonl")
    topics.update(content)
    return topic_values(topics, "n", NUMBER)


@pytest.mark.parametrize("content", [LINES, gzip.compress(LINES)], ids=["plain", "gzip"])
def test_values_have_the_ids_of_the_topics(content):
    assert read(content) == {"a": 1, "\u00e9": 2}


def test_topics_in_columns_have_no_values():
    assert read(b"a\tn of a question\n") == {}


def test_a_value_of_another_type_is_refused_with_file_and_line():
    with pytest.raises(BadTopics, match=r"topics\.jsonl:2: n: "):
        read(b'{"query_id": "a", "n": 1}\n{"query_id": "b", "n": "many"}\n')


def test_a_file_that_is_too_large_for_a_copy_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.files.MOST_COPIED", 10)
    path = tmp_path / "topics.jsonl"
    path.write_bytes(LINES)
    topics = Input(path)
    topics.update(LINES)
    assert topics.content is None
    assert topic_values(topics, "n", NUMBER) == {"a": 1, "\u00e9": 2}
