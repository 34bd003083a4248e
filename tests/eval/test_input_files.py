"""Damaged and unusual files of topics, qrels and runs: every command names file and line."""

import gzip

import pytest
from click.testing import CliRunner

from eval.commands import evaluate
from eval.errors import BadQrels, BadRun, BadTopics
from eval.qrels import read_qrels
from eval.run_reader import read_run
from eval.topics import read_topics

GOOD = {
    read_topics: b"q1\tWhy?\nq2\tHow?\n",
    read_qrels: b"q1 0 d1 1\nq2 0 d1 1\n",
    read_run: b"q1 Q0 d1 1 1.5 x\nq2 Q0 d1 1 1.5 x\n",
}
ERRORS = {read_topics: BadTopics, read_qrels: BadQrels, read_run: BadRun}


def error_of(path, read):
    with pytest.raises(ERRORS[read]) as raised:
        read(path)
    return str(raised.value)


@pytest.mark.parametrize("read", GOOD)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("packed", [False, True])
def test_line_ends_byte_order_marks_and_gzip_make_no_difference(tmp_path, read, end, mark, packed):
    (tmp_path / "plain").write_bytes(GOOD[read])
    content = mark + GOOD[read].rstrip(b"\n").replace(b"\n", end or b"\n") + end
    (tmp_path / "other").write_bytes(gzip.compress(content) if packed else content)

    assert read(tmp_path / "other") == read(tmp_path / "plain")


@pytest.mark.parametrize("read", GOOD)
@pytest.mark.parametrize(
    ("bytes_of_line_3", "reason"),
    [(b"q3\0", "NUL"), (b"q3 \xff", "not UTF-8"), (b"x" * 1_000_001, "too long"), (b"q3", "1 column|one")],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, read, bytes_of_line_3, reason):
    path = tmp_path / "file"
    path.write_bytes(GOOD[read] + bytes_of_line_3 + b"\n" + GOOD[read])

    message = error_of(path, read)

    assert message.startswith(f"{path}:3: ")
    assert any(each in message for each in reason.split("|"))


@pytest.mark.parametrize("read", GOOD)
def test_an_error_before_damage_is_named_first(tmp_path, read):
    path = tmp_path / "file"
    path.write_bytes(GOOD[read] + b"q3\n" + b"q4 \xff\n")

    assert error_of(path, read).startswith(f"{path}:3: ")


@pytest.mark.parametrize("read", GOOD)
def test_a_truncated_gzip_file_is_named_with_the_first_missing_line(tmp_path, read):
    first = GOOD[read].splitlines()[0]
    lines = b"".join(first.replace(b"q1", b"q%d" % number) + b"\n" for number in range(50_000))
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(lines)[:-1000])

    where, _, reason = error_of(path, read).removeprefix(f"{path}:").partition(": ")

    assert 1_000 < int(where) <= 50_000  # of the block with the damage
    assert "damaged" in reason


@pytest.mark.parametrize("read", GOOD)
@pytest.mark.parametrize("place", ["missing", "folder"])
def test_a_path_without_a_file_is_named(tmp_path, read, place):
    (tmp_path / "folder").mkdir()

    assert str(tmp_path / place) in error_of(tmp_path / place, read)


def test_carriage_returns_alone_end_no_line_of_topics(tmp_path):
    path = tmp_path / "topics"
    path.write_bytes(b"q1\tWhy?\rq2\tHow?\r")

    assert error_of(path, read_topics).startswith(f"{path}:1: a carriage return")


@pytest.fixture
def call(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 1.5 x\n")

    def invoke(*arguments):
        paths = [str(tmp_path / each) for each in arguments[1:]]
        return CliRunner().invoke(evaluate, [arguments[0], *paths])

    return invoke


@pytest.mark.parametrize("command", [("score",), ("compare", "run")])
@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"q1 Q0 d1 1 1.5\n", ":1: 5 columns"),
        (b"q1 Q0 d1 1 nan x\n", ":1: the score 'nan'"),
        (b"q1 Q0 d1 1 1.5 x\nq1 Q0 d1 2 1.0 x\n", ":2: d1 occurs"),
        (b"q1 Q0 d1 1 1.5 x\nq1 Q0 d2 1 1.0 x\n", ":2: rank 1 occurs"),
        (b"q1 Q0 d\0 1 1.5 x\n", ":1: a NUL byte"),
        (b"", ": it contains no hits"),
    ],
)
def test_commands_refuse_a_run_with_file_and_line(call, tmp_path, command, content, error):
    (tmp_path / "bad").write_bytes(content)

    result = call(command[0], "qrels", *command[1:], "bad")

    assert isinstance(result.exception, BadRun)
    assert str(result.exception).startswith(f"{tmp_path / 'bad'}{error}")


@pytest.mark.parametrize("command", [("score", "run"), ("compare", "run", "run")])
@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"q1 0 d1 1\nq2 0 d2\n", ":2: 3 columns"),
        (b"q1 Q0 d1 1 1.5 x\n", ":1: 6 columns"),
        (b"q1 0 d1 high\n", ":1: 'high'"),
        (b"\xff\xfeq\0", ":1: a NUL byte"),
        (b"\n", ": it contains no judgements"),
    ],
)
def test_commands_refuse_qrels_with_file_and_line(call, tmp_path, command, content, error):
    (tmp_path / "bad").write_bytes(content)

    result = call(command[0], "bad", *command[1:])

    assert isinstance(result.exception, BadQrels)
    assert str(result.exception).startswith(f"{tmp_path / 'bad'}{error}")


def test_a_run_of_other_ids_scores_0_with_a_note_that_names_ids_of_both(call, tmp_path):
    (tmp_path / "strange").write_text("q1 Q0 P7 1 1.5 x\n")

    result = call("score", "qrels", "strange")

    assert result.exit_code == 0
    note = result.stderr.splitlines()[-1]
    assert "P7" in note
    assert "d1" in note
    assert "no judged id" not in call("score", "qrels", "run").stderr
