"""Questions and answers of a challenge as tables whose columns a mapping names."""

import hashlib
import json

import pytest

from base.errors import InvalidCall
from eval.errors import BadTopics
from eval.experiments.challenge.form import ChallengeAnswer
from eval.experiments.challenge.mapping import ChallengeMapping, QuestionColumns, read_mapping
from eval.experiments.challenge.table import (
    AnsweredQuestion,
    ChallengeQuestion,
    read_questions,
    written_table,
)

MAPPING = """
[questions]
id = "No"
question = "질문"
relevant = "References"
separator = "|"

[answers]
No = "id"
SAI_Answer = "answer"
"article_{n}" = "document"
"""
COLUMNS = QuestionColumns(id="No", question="질문", relevant="References", separator="|")
QUESTIONS = 'No,질문,References\nQ1,"메탄, 얼마나?",First title| A2 |\n\nQ2,"Two\nlines?",\n'


def mapped(**tables):
    return {"questions": {"id": "No", "question": "질문"}, "answers": {"No": "id"}} | tables


def test_a_mapping_is_read_from_toml_or_json(tmp_path):
    toml, as_json = tmp_path / "mapping.toml", tmp_path / "mapping.json"
    toml.write_text(MAPPING)
    answers = {"No": "id", "SAI_Answer": "answer", "article_{n}": "document"}
    as_json.write_text(json.dumps(mapped(questions=COLUMNS.model_dump(), answers=answers)))
    assert read_mapping(toml) == read_mapping(as_json)
    assert read_mapping(toml).questions == COLUMNS


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("questions = ", "mapping.toml"),
        ("[questions]\nid = 'No'\n[answers]\nNo = 'id'", "questions.question"),
        (MAPPING + "[other]\n", "other"),
        (MAPPING.replace('"answer"', '"reply"'), "answers.SAI_Answer"),
        (MAPPING + "[document]\nformat = '{abstracts}'", "abstracts"),
        (MAPPING + "[document]\nformat = '{title:>9}'", "title:>9"),
        (MAPPING + "[document]\nformat = '{'", "document.format"),
    ],
)
def test_an_invalid_mapping_is_an_error_with_file_and_field(tmp_path, content, named):
    path = tmp_path / "mapping.toml"
    path.write_text(content)
    with pytest.raises(InvalidCall) as raised:
        read_mapping(path)
    assert str(path) in raised.value.what
    assert named in raised.value.what


def test_questions_are_read_by_the_columns_of_the_mapping(tmp_path):
    path, digest = tmp_path / "questions.csv", hashlib.sha256()
    path.write_bytes(b"\xef\xbb\xbf" + QUESTIONS.encode())
    assert read_questions(path, COLUMNS, digest) == {
        "Q1": ChallengeQuestion("Q1", "메탄, 얼마나?", ("First title", "A2")),
        "Q2": ChallengeQuestion("Q2", "Two\nlines?", ()),
    }
    assert digest.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "where", "named"),
    [
        ("", ":1: ", "'No'"),
        ("No,Question,References\nQ1,a,b\n", ":1: ", "'질문'"),
        ("No,질문,질문,References\nQ1,a,b,c\n", ":1: ", "several"),
        ("No,질문,References\nQ1,a\n", ":2: ", "2 cells"),
        ("No,질문,References\n,a,b\n", ":2: ", "''"),
        ("No,질문,References\nQ1,a,b\nQ1,a,b\n", ":3: ", "second"),
        ("No,질문,References\nQ1, ,b\n", ":2: ", "Q1"),
        ('No,질문,References\nQ1,"a" b,c\n', ":2: ", "table"),
        ("No,질문,References\n", ": ", "no questions"),
        ("No,질문,References\nQ\0,a,b\n", ": ", "NUL"),
    ],
)
def test_an_invalid_row_is_an_error_with_file_and_line(tmp_path, content, where, named):
    path = tmp_path / "questions.csv"
    path.write_text(content)
    with pytest.raises(BadTopics) as raised:
        read_questions(path, COLUMNS)
    assert raised.value.args[0].startswith(f"{path}{where}")
    assert named in raised.value.args[0]


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_bytes("No,질문,References\n".encode("cp949"))
    with pytest.raises(BadTopics, match="UTF-8"):
        read_questions(path, COLUMNS)


def test_answers_are_written_in_the_columns_of_the_mapping():
    mapping = ChallengeMapping.model_validate(
        mapped(
            answers={
                "No": "id",
                "Answer": "answer",
                "doc_{n}": "document",
                "all": "documents",
                "empty": "",
            },
            document={"format": "{title} ({year})", "separator": "|"},
        )
    )
    document = {"id": "A", "title": 'One, "two"', "abstract": "…", "year": "2020", "url": ""}
    answer = ChallengeAnswer("T")
    rows = [
        AnsweredQuestion(ChallengeQuestion("Q1", "?"), answer, "##T##\n", [document]),
        AnsweredQuestion(ChallengeQuestion("Q2", "?"), answer, "x", []),
    ]
    assert written_table(mapping, rows, 2) == (
        "No,Answer,doc_1,doc_2,all,empty\n"
        'Q1,"##T##\n","One, ""two"" (2020)",,"One, ""two"" (2020)",\n'
        "Q2,x,,,,\n"
    )
