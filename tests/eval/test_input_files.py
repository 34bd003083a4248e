"""Files of topics, qrels, runs, questions and accepted strings: forms that are read, and errors by line."""

import gzip
from unicodedata import normalize

import pytest
from click.testing import CliRunner

from eval.accepted import read_accepted
from eval.collection import PaperQuestion, read_qrels, read_query_lines, read_topics
from eval.commands import evaluate
from eval.errors import BadQrels, BadRun, BadTopics
from eval.runs import read_run

GOOD = {
    read_topics: b"q1\tWhy?\nq2\tHow?\n",
    read_qrels: b"q1 0 d1 1\nq2 0 d1 1\n",
    read_run: b"q1 Q0 d1 1 1.5 x\nq2 Q0 d1 1 1.5 x\n",
}
ERRORS = {read_qrels: BadQrels, read_run: BadRun}
DECOMPOSED = normalize("NFD", "논")
ACCEPTED = '{"query_id": "Q1", "answers": ["a"]}\n'
PAPER = '{"query_id": "Q1", "question": "?", "answers": ["a"]%s}\n'
ONE_RUN = {"q1": [("a", 2.0), ("b", 1.0)]}


def read_paper_questions(path):
    return read_query_lines(path, PaperQuestion, "questions")


def error_of(path, read):
    with pytest.raises(ERRORS.get(read, BadTopics)) as raised:
        read(path)
    return str(raised.value)


@pytest.mark.parametrize("read", GOOD)
@pytest.mark.parametrize(("mark", "end", "packed"), [(b"\xef\xbb\xbf", b"\r\n", True), (b"", b"", False)])
def test_line_ends_byte_order_marks_and_gzip_make_no_difference(tmp_path, read, end, mark, packed):
    (tmp_path / "plain").write_bytes(GOOD[read])
    content = mark + GOOD[read].rstrip(b"\n").replace(b"\n", end or b"\n") + end
    (tmp_path / "other").write_bytes(gzip.compress(content) if packed else content)

    assert read(tmp_path / "other") == read(tmp_path / "plain")


@pytest.mark.parametrize(
    ("read", "content", "expected"),
    [
        (read_topics, "q2\t메탄은?\nq1\tWhy\u2028so?\n", {"q2": "메탄은?", "q1": "Why\u2028so?"}),
        (read_topics, '{"query_id": "q1", "question": "Why?", "language": "en"}', {"q1": "Why?"}),
        (read_topics, '{"_id": 7, "text": "Why?", "metadata": {}}', {"7": "Why?"}),
        (read_topics, '{"id": "q1", "query": " Why? "}', {"q1": "Why?"}),
        (read_topics, f"{DECOMPOSED}\t{DECOMPOSED}\n", {"논": DECOMPOSED}),  # ids are composed
        (
            read_qrels,
            "q1 0 d1 2\nq1\tQ0\td2\t-1\nq2   0  d1\t +1\r\n",
            {"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 1}},
        ),
        (
            read_qrels,
            "query-id\tcorpus-id\tscore\n1\t317\t1\n3\t147\t1\n",
            {"1": {"317": 1}, "3": {"147": 1}},
        ),
        (read_qrels, "1\td1\t1\n1\td1\t1\n", {"1": {"d1": 1}}),
        (read_qrels, f"{DECOMPOSED} 0 {DECOMPOSED} 1\n", {"논": {"논": 1}}),
        (
            read_run,
            "q1 Q0 b 2 1.5 x\nq1 Q0 c 3 7e0 x\nq1\tQ0\ta\t1\t1.5\tx\n",
            {"q1": [("c", 7), ("a", 1.5), ("b", 1.5)]},
        ),
        (read_run, "\ufeffq1 Q0 a 1 2.0 x\n\ufeffq1 Q0 b 2 1.0 x\n", ONE_RUN),
        (read_run, "q1 Q0 a 0 2.0 x\n\n  q1  Q1\tb   01  +1.0 y", ONE_RUN),
        (read_run, f"{DECOMPOSED} Q0 {DECOMPOSED} 1 1.5 x\n", {"논": [("논", 1.5)]}),
        (
            read_accepted,
            '{"query_id": "Q1", "answers": ["37%", " 37 % "], "x": 1}\n\n' + ACCEPTED.replace("Q1", "2"),
            {"Q1": ["37%", "37 %"], "2": ["a"]},
        ),
        (
            read_paper_questions,
            PAPER % ', "topic": "P1", "strings": ["s"]' + "\n" + PAPER.replace("Q1", "Q2") % ', "note": ""',
            {
                "Q1": PaperQuestion(query_id="Q1", question="?", answers=("a",), topic="P1", strings=("s",)),
                "Q2": PaperQuestion(query_id="Q2", question="?", answers=("a",)),
            },
        ),
    ],
)
def test_files_are_read(tmp_path, read, content, expected):
    (tmp_path / "file").write_text(content, "utf-8")

    found = read(tmp_path / "file")

    assert (found, list(found)) == (expected, list(expected))


RUN = "q1 Q0 d1 1 1.5 x\n"
TOPIC = '{"query_id": "q1", "question": "Why?"}\n'
INVALID = {
    read_run: [
        ("q1 Q0 d1 1 1.5\n", 1, "5 columns"),
        ("q1\n", 1, "1 column; "),
        (RUN + "q1 Q0 d1 2 1.0 x\n", None, "id d1 occurs a second time for q1"),
        (f"q Q0 논 1 2.0 x\nq Q0 {DECOMPOSED} 2 1.0 x\n", None, "논 occurs "),
        (RUN + "q2 Q0 d1 1 1.5 x\nq1 Q0 d2 1 1.0 x\n", None, "rank 1 occurs "),
        (RUN + "\nq1 Q0 d2 2 1.0\n", 3, "5 columns"),
        ("q1 Q0 d1 1 1.5 x y\nq1 Q0 d2 2 1.0\n", 1, "7 columns"),
        (RUN + "q1 Q0 d2 2 inf x\n", 2, "'inf'"),
        *((f"q1 Q0 d1 1 {of} x\n", 1, f"'{of}'") for of in ("high", "nan", "1_0", "１", "1e999")),
        ("q1 Q0 d1 first 1 x\n", 1, "'first'"),
        ("".join(f"q{number} Q0 d1 1 1 x\n" for number in range(9_999)) + "q Q0 d1\n", 10_000, "3 columns"),
        ("", None, "no hits"),
    ],
    read_qrels: [
        ("q1 0 d1 1\nq1 0 d2\n", 2, "3 columns"),
        ("q1\n", 1, "1 column; "),
        *((f"q1 0 d1 {grade}\n", 1, f"'{grade}'") for grade in ("1.0", "high", "²", "1_0")),
        ("q1 0 d1 99999999999\n", 1, "not a grade"),
        (f"q 0 논 1\nq 0 {DECOMPOSED} 0\n", 2, "논 is judged 0 for q, and 1 before"),
        ("query-id\tcorpus-id\tscore\nquery-id\tcorpus-id\tscore\n", 2, "'score'"),
        ("query-id\tcorpus-id\tscore\n", None, "no judgements"),
    ],
    read_topics: [
        ("q1\tWhy?\nq2 How?\n", 2, "one column"),
        ("q1\tWhy?\n\nq1\tHow?\n", 3, "q1 occurs"),
        (f"논\tWhy?\n{DECOMPOSED}\tHow?\n", 2, "논 occurs"),
        ("q1\t  \n", 1, "question"),
        *((f"{query_id}\tWhy?\n", 1, "query_id") for query_id in ("q 1", "")),
        ('{"query_id": "q1"}\n', 1, "question"),
        ('{"question": "Why?"}\n', 1, "query_id"),
        (TOPIC + "[]\n", 2, "one column"),
        ('{"query_id": 1\n', 1, "not JSON"),
        ('{"query_id": "\\ud800", "question": "Why?"}\n', 1, "not JSON"),
        ("q1\tWhy?\rq2\tHow?\r", 1, "a carriage return"),
        ("\n \n", None, "no questions"),
    ],
    read_accepted: [
        *(
            (ACCEPTED + line, 2, "")
            for line in (
                "no JSON",
                '{"query_id": "Q2"}',
                *(f'{{"query_id": "Q2", "answers": {of}}}' for of in ("[]", '[" "]', '"37%"')),
            )
        ),
        (ACCEPTED * 2, 2, "Q1 occurs"),
        ("\n", None, ""),
    ],
    read_paper_questions: [
        *(
            (line + "\n", 1, part)
            for line, part in (
                ("no JSON", "not JSON"),
                ('{"query_id": "Q2", "question": " ", "answers": ["a"]}', "question"),
                ('{"query_id": "Q2", "question": "?"}', "answers"),
                ('{"query_id": "Q2", "question": "?", "answers": []}', "answers"),
                (PAPER % ', "strings": [1]', "strings.0"),
            )
        ),
        (PAPER % "" * 2, 2, "Q1 occurs a second time"),
        ("\n", None, "no questions"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("read", "content", "line", "reason"), [(read, *each) for read, of in INVALID.items() for each in of]
)
def test_what_cannot_be_read_is_told_with_file_and_line(tmp_path, read, content, line, reason):
    path = tmp_path / "file"
    path.write_text(content, "utf-8", newline="")
    if reason == "no hits":
        (tmp_path / "qrels").write_text("q1 0 d1 1\n")
        message = str(CliRunner().invoke(evaluate, ["score", str(tmp_path / "qrels"), str(path)]).exception)
    else:
        message = error_of(path, read)

    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert reason in message


@pytest.mark.parametrize("read", GOOD)
@pytest.mark.parametrize(("line", "reason"), [(b"q3\0", "NUL"), (b"q3 \xff", "not UTF-8")])
def test_a_damaged_line_is_named(tmp_path, read, line, reason):
    (tmp_path / "file").write_bytes(GOOD[read] + line + b"\n" + GOOD[read])

    message = error_of(tmp_path / "file", read)

    assert message.startswith(f"{tmp_path / 'file'}:3: ")
    assert reason in message


@pytest.mark.parametrize("read", GOOD)
def test_a_truncated_gzip_file_and_a_missing_one_are_named(tmp_path, read):
    first = GOOD[read].splitlines()[0]
    lines = b"".join(first.replace(b"q1", b"q%d" % number) + b"\n" for number in range(50_000))
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(lines)[:-1000])

    where, _, reason = error_of(path, read).removeprefix(f"{path}:").partition(": ")

    assert 1_000 < int(where) <= 50_000  # of the block with the damage
    assert "damaged" in reason
    for other in (tmp_path, tmp_path / "missing"):
        assert str(other) in error_of(other, read)
