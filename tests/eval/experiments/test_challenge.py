"""The challenge: the form of answers and its repair, the files, and the experiment on the sample."""

import csv
from typing import Any

import pytest

from base.errors import InvalidCall
from eval.errors import BadTopics
from eval.experiments.challenge_files import (
    ChallengeAnswer,
    ChallengeMapping,
    ChallengeQuestion,
    QuestionColumns,
    laid_out,
    plain,
    read_mapping,
    read_questions,
    without_signs,
    written_table,
)
from eval.experiments.tables.challenge import is_named, measures
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage
from retriever.stages.hits import Hit
from tests.eval.experiments.calling import SAMPLE, call, read, read_lines

KOREAN = "##제목##\n제목이다\n\n##서론##\n하나.\n\n##본론##\n둘.\n\n##결론##\n셋.\n"
ENGLISH = "##A title##\n\n##Introduction##\nOne.\n\n##Main Body##\nTwo.\n\n##Conclusion##\nThree.\n"
QUESTIONS, MAPPING = SAMPLE / "challenge" / "questions.csv", SAMPLE / "challenge" / "mapping.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Yields** fell *slightly*.", "Yields fell slightly."),
        ("* one\n- two\n• three", "one\ntwo\nthree"),
        ("A* search, p = .03*", "A∗ search, p = .03∗"),
        ("a two-stage method, 10-20 °C, -5 °C", "a two-stage method, 10-20 °C, -5 °C"),
        ("-5 °C was measured", "-5 °C was measured"),
        ("yields - and prices - fell", "yields – and prices – fell"),
        ("yields--and prices", "yields–and prices"),
        ("one\n---\ntwo", "one\n\ntwo"),
        ("## Results", "Results"),
        ("**- item**", "item"),
    ],
)
def test_signs_of_layout_are_removed_and_signs_of_the_text_stay(text, expected):
    assert plain(text) == plain(plain(text)) == expected


def test_the_title_is_below_a_heading_in_korean_and_the_first_heading_in_english():
    assert laid_out(ChallengeAnswer("제목이다", "하나.", "둘.", "셋."), "ko") == KOREAN
    assert laid_out(ChallengeAnswer("A title", "One.", "Two.", "Three."), "en") == ENGLISH
    answer = without_signs(ChallengeAnswer("# C# and\n*Java*", "- One."))
    assert answer == ChallengeAnswer("C♯ and Java", "One.")


COLUMNS = QuestionColumns(id="No", question="질문", relevant="References", separator="|")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("questions = ", "mapping.toml"),
        ("[questions]\nid = 'No'\n[answers]\nNo = 'id'", "questions.question"),
        (MAPPING.read_text("utf-8") + "[other]\n", "other"),
        (MAPPING.read_text("utf-8").replace('"answer"', '"reply"'), "answers.answer"),
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
    path = tmp_path / "questions.csv"
    lines = 'No,질문,References\nQ1,"메탄, 얼마나?",First title| A2 |\n\nQ2,"Two\nlines?",\n'
    path.write_bytes(b"\xef\xbb\xbf" + lines.encode())
    assert read_questions(path, COLUMNS) == {
        "Q1": ChallengeQuestion("Q1", "메탄, 얼마나?", ("First title", "A2")),
        "Q2": ChallengeQuestion("Q2", "Two\nlines?", ()),
    }


@pytest.mark.parametrize(
    ("content", "where", "named"),
    [
        ("", ":1: ", "'No'"),
        ("No,Question,References\nQ1,a,b\n", ":1: ", "'질문'"),
        ("No,질문,References\n,a,b\n", ":2: ", "query_id"),
        ("No,질문,References\nQ1,a,b\nQ1,a,b\n", ":3: ", "second"),
        ('No,질문,References\nQ1,"a" b,c\n', ":2: ", "table"),
        ("No,질문,References\n", ": ", "no questions"),
        ("No,질문,References\n".encode("cp949"), ":1: ", "UTF-8"),
    ],
)
def test_an_invalid_row_is_an_error_with_file_and_line(tmp_path, content, where, named):
    path = tmp_path / "questions.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadTopics) as raised:
        read_questions(path, COLUMNS)
    assert raised.value.args[0].startswith(f"{path}{where}")
    assert named in raised.value.args[0]


def test_answers_are_written_in_the_columns_of_the_mapping():
    answers = {"No": "id", "Answer": "answer", "doc_{n}": "document", "all": "documents", "empty": ""}
    form = {"format": "{title} ({year})", "separator": "|"}
    mapping = ChallengeMapping.model_validate({"questions": COLUMNS, "answers": answers, "document": form})
    document = {"id": "A", "title": 'One, "two"', "abstract": "…", "year": "2020", "url": ""}
    rows: list[dict[str, Any]] = [
        {"id": "Q1", "answer": "##T##\n", "documents": [document]},
        {"id": "Q2", "answer": "x", "documents": []},
    ]
    assert written_table(mapping, rows, 2) == (
        "No,Answer,doc_1,doc_2,all,empty\n"
        'Q1,"##T##\n","One, ""two"" (2020)",,"One, ""two"" (2020)",\n'
        "Q2,x,,,,\n"
    )


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.needs_libraries  # matplotlib
@pytest.mark.slow
@pytest.mark.usefixtures("on_sample")
def test_all_answers_to_the_sample_are_in_the_form(tmp_path):
    out = tmp_path / "out"
    made = call("challenge", QUESTIONS, "--mapping", MAPPING, "--out", out)
    rows = rows_of(out / "answers.csv")
    assert [row["id"] for row in rows] == [topic["query_id"] for topic in read_lines(SAMPLE / "topics.jsonl")]
    for row in rows:
        heading = "##제목##\n" if language_of(row["Question"]) == "ko" else "##"
        assert row["answer"].startswith(heading)
        assert plain(row["answer"].replace("##", "")) == row["answer"].replace("##", "").strip()
    assert all(row["document_1"] for row in rows)
    main = read(out / "metrics.json")["main"]
    assert (main["evidence coverage"], main["retrieval ratio"] > 90) == (100, True)
    assert "5 questions name no relevant document" in made.stderr
    assert "seconds" not in (out / "report.md").read_text()  # times are not among the results that repeat


def test_a_document_is_named_by_its_id_or_title():
    passage = StoredPassage("A#1", "A", title="Rice, and methane", text="", lang="en", part="abstract")
    hit = Hit(1, passage, 1.0, paper={"title2": "벼와 메탄"})
    assert all(is_named(hit, name) for name in ("A", "A#1", "rice and Methane.", "벼와  메탄"))
    assert not any(is_named(hit, name) for name in ("a", "Rice", "…"))
    topics = [
        {"relevant": 2, "collected": 1, "sentences": 4, "citing": 3},
        {"relevant": 1, "collected": 0, "sentences": 0, "citing": 0},
    ]
    assert measures(topics) == {"evidence coverage": 50, "retrieval ratio": 25, "relevance": 37.5}
