import gzip
from unicodedata import normalize

import pytest

from eval.errors import BadTopics
from eval.topics import read_topics


def topics_file(tmp_path, content, name="topics"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_columns_are_id_tab_question_in_file_order(tmp_path):
    path = topics_file(tmp_path, "q2\t논에서 메탄이 얼마나 나오는가?\nq1\tWho wrote it?\n")

    assert list(read_topics(path).items()) == [
        ("q2", "논에서 메탄이 얼마나 나오는가?"),
        ("q1", "Who wrote it?"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"query_id": "q1", "question": "Why?", "language": "en"}',
        '{"_id": "q1", "text": "Why?", "metadata": {}}',
        '{"id": "q1", "query": " Why? "}',
    ],
)
def test_json_lines_have_our_keys_or_beirs(tmp_path, line):
    assert read_topics(topics_file(tmp_path, line + "\n")) == {"q1": "Why?"}


def test_a_number_is_an_id(tmp_path):
    assert read_topics(topics_file(tmp_path, '{"_id": 7, "text": "Why?"}')) == {"7": "Why?"}


def test_gzip_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    packed = gzip.compress(b"\xef\xbb\xbfq1\tWhy?\r\n\r\nq2\tHow?\r\n")

    assert read_topics(topics_file(tmp_path, packed)) == {"q1": "Why?", "q2": "How?"}


def test_a_line_separator_inside_a_question_ends_no_line(tmp_path):
    assert read_topics(topics_file(tmp_path, "q1\tWhy\u2028so?\n")) == {"q1": "Why\u2028so?"}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("q1\tWhy?\nq2 How?\n", 2, "one column"),
        ("q1\tWhy?\n\nq1\tHow?\n", 3, "q1 occurs"),
        ("q1\t  \n", 1, "q1"),
        ("q 1\tWhy?\n", 1, "id"),
        ("\tWhy?\n", 1, "id"),
        ('{"query_id": "q1"}\n', 1, 'no "question"'),
        ('{"question": "Why?"}\n', 1, 'no "query_id"'),
        ('{"query_id": "q1", "question": ["Why?"]}\n', 1, 'no "question"'),
        ('{"query_id": "q1", "question": "Why?"}\nq2\tHow?\n', 2, "not JSON"),
        ('{"query_id": "q1", "question": "Why?"}\n[]\n', 2, "not a JSON object"),
        ('{"query_id": "q1", "question": "\\ud800"}\n', 1, "lone surrogate"),
        ('{"query_id": "\\ud800", "question": "Why?"}\n', 1, "lone surrogate"),
        (b"q1\t\xff\n", 1, "not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told_with_file_and_line(tmp_path, content, line, reason):
    path = topics_file(tmp_path, content)

    with pytest.raises(BadTopics) as error:
        read_topics(path)

    assert str(error.value).startswith(f"{path}:{line}: ")
    assert reason in str(error.value)


def test_a_file_without_a_question_is_refused(tmp_path):
    with pytest.raises(BadTopics, match="no questions"):
        read_topics(topics_file(tmp_path, "\n \n"))


def test_a_cut_gzip_file_is_told_as_damaged(tmp_path):
    packed = gzip.compress(b"".join(b"q%d\tWhy %d?\n" % (n, n * n) for n in range(1000)))

    with pytest.raises(BadTopics, match="damaged"):
        read_topics(topics_file(tmp_path, packed[:-20]))


def test_a_missing_file_is_told_by_name(tmp_path):
    with pytest.raises(BadTopics, match="nowhere"):
        read_topics(tmp_path / "nowhere")


def test_the_real_topics_are_read(shared_data):
    folder = shared_data / "tydi-goldp/miracl-v1.0-ko/topics"

    assert len(read_topics(folder / "topics.miracl-v1.0-ko-dev.tsv")) == 276


def test_ids_are_composed_and_questions_stay_as_they_are(tmp_path):
    asked = normalize("NFD", "물음\t논문?\n")

    assert read_topics(topics_file(tmp_path, asked)) == {"물음": normalize("NFD", "논문?")}


def test_an_id_in_two_forms_stands_twice(tmp_path):
    path = topics_file(tmp_path, "물음\tWhy?\n" + normalize("NFD", "물음\tHow?\n"))

    with pytest.raises(BadTopics, match=":2: "):
        read_topics(path)
