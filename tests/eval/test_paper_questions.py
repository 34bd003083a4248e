"""Questions about papers with reference answers."""

import gzip
import hashlib
import json

import pytest

from eval.errors import BadTopics
from eval.query_lines import PaperQuestion, read_paper_questions

WHOLE = {
    "query_id": "Q1",
    "question": "How long?",
    "topic": "P1",
    "answers": ["A year."],
    "strings": ["year"],
}
SHORT = {"query_id": "Q2", "question": "얼마나?", "answers": ["1년.", "12개월."], "note": "ignored"}


@pytest.fixture
def file_of(tmp_path):
    def written(*lines):
        path = tmp_path / "questions.jsonl"
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text("".join(text + "\n" for text in texts))
        return path

    return written


def test_topic_and_strings_are_optional(file_of):
    assert read_paper_questions(file_of(WHOLE, "", SHORT)) == {
        "Q1": PaperQuestion.model_validate(WHOLE),
        "Q2": PaperQuestion(query_id="Q2", question="얼마나?", answers=("1년.", "12개월.")),
    }


def test_the_bytes_of_a_compressed_file_are_hashed(tmp_path):
    packed, digest = gzip.compress(json.dumps(WHOLE).encode()), hashlib.sha256()
    (tmp_path / "questions.jsonl.gz").write_bytes(packed)
    assert list(read_paper_questions(tmp_path / "questions.jsonl.gz", digest)) == ["Q1"]
    assert digest.hexdigest() == hashlib.sha256(packed).hexdigest()


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("no JSON", "not JSON"),
        ([WHOLE], "object"),
        ({**SHORT, "query_id": "Q 2"}, "query_id"),
        ({**SHORT, "query_id": 2}, "query_id"),
        ({**SHORT, "question": " "}, "question"),
        ({"query_id": "Q2", "question": "How?"}, "answers"),
        ({**SHORT, "answers": []}, "answers"),
        ({**SHORT, "answers": "A year."}, "answers"),
        ({**SHORT, "answers": ["A year.", ""]}, r"answers\.1"),
        ({**SHORT, "topic": ""}, "topic"),
        ({**SHORT, "strings": [1]}, r"strings\.0"),
        (WHOLE, "Q1 occurs a second time"),
    ],
)
def test_an_error_names_file_and_line(file_of, line, part):
    path = file_of(WHOLE, line)
    with pytest.raises(BadTopics, match=f"{path}:2: .*{part}"):
        read_paper_questions(path)


def test_a_file_without_questions_is_refused(file_of):
    with pytest.raises(BadTopics, match="no questions"):
        read_paper_questions(file_of(""))
