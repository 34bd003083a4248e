"""JSON lines in Paper's own keys, MIRACL's and BEIR's, and all that a line can be instead of a record."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.jsonl import read_jsonl
from indexer.corpora.readers.lines import LINE_BYTES
from indexer.corpora.readers.streams import Stream
from tests.indexer.corpora.readers.items import items_of


class Bytes:
    """A file in memory that gives a few bytes at a time."""

    def __init__(self, content, step=7):
        self.content, self.step = content, step

    def read1(self, size):
        block, self.content = self.content[: self.step], self.content[self.step :]
        return block


def read(content, name="papers.jsonl"):
    return list(read_jsonl(Stream(name, Bytes(content))))


def test_a_record_in_our_own_keys_is_a_paper():
    line = {"id": "P1", "title": "제목", "abstract": "초록", "year": 2020, "grade": {"a": 1}}

    (paper,) = read(json.dumps(line).encode())

    assert isinstance(paper, Paper)
    assert paper.record() == {**line, "lang": "ko"}


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_passed_over():
    items = read(b'\xef\xbb\xbf{"id": "a"}\r\n\r\n  \n{"id": "b"}')

    assert [item.id for item in items] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (b"null", "null"),
        (b"[1]", "list"),
        (b'{"title": "A"}', "id: "),
        (b'{"id": ""}', "id: "),
        (b'{"id": "' + b"A" * 513 + b'"}', "513"),
        (b'{"id": "A B"}', "id: "),
        (b'{"id": "A", "year": "2019"}', "year: "),
        (rb'{"id": "A", "title": "\ud800"}', "title: "),
        (b'{"id": "A", "title": "\xff"}', "byte 23"),
        (b'{"id": 7}', "id: "),
        (b'{"id": "a", "title": null}', "title: null; leave the key out"),
        (b'{"id": "a", "title": 3}', "title: "),
        (b'{"id": "a", "note": NaN}', "NaN"),
        (b'{"id": "a", "note": -Infinity}', "-Infinity"),
        (b'{"id": "a", "note": 1e999}', "1e999"),
        (b'{"id": "a", "note": ' + b"[" * 500 + b"]" * 500 + b"}", "100 levels"),
        (b'{"id": "a", "x": ' + b"9" * 5000 + b"}", "4,000 digits"),
    ],
)
def test_a_bad_line_is_one_dead_letter_and_reading_goes_on(line, fact):
    before, dead, after = read(b'{"id": "before"}\n' + line + b'\n{"id": "after"}\n')

    assert (dead.line, dead.head) == (2, line[:200].decode("utf-8", "backslashreplace"))
    assert fact in dead.reason
    assert (before.id, after.id) == ("before", "after")


def test_nesting_that_the_parser_does_not_survive_is_a_dead_letter_too():
    dead, after = read(b'{"id": "a", "x": ' + b"[" * 200_000 + b'\n{"id": "after"}', "papers.jsonl")

    assert (dead.line, after.id) == (1, "after")


def test_a_line_over_64_mib_is_one_dead_letter_with_its_head():
    class Long:
        def __init__(self):
            self.blocks = iter([b'{"id": "', *[b"x" * (1 << 20)] * 65, b'"}\n{"id": "after"}\n'])

        def read1(self, size):
            return next(self.blocks, b"")

    dead, after = items_of(read_jsonl(Stream("papers.jsonl", Long())))

    assert {str(8 + 65 * 2**20 + 2), str(LINE_BYTES)} <= set(re.findall(r"\d+", dead.reason))
    assert dead.head == '{"id": "' + "x" * 192
    assert after.id == "after"


def test_objects_written_over_several_lines_of_a_json_file_are_records():
    text = json.dumps({"id": "a", "keywords": ["x"]}, indent=2) + "\n" + json.dumps({"id": "b"}, indent=2)

    assert [item.id for item in read(text.encode(), "papers.json")] == ["a", "b"]


def test_an_unfinished_object_of_a_json_file_is_a_dead_letter():
    (dead,) = read(b'{\n"id": "a",\n', "papers.json")

    assert (dead.file, dead.line, dead.head.strip()) == ("papers.json", 1, '{\n"id": "a",')


def test_the_elements_of_an_array_are_records_with_their_lines():
    a, dead, b = read(b'[\n{"id": "a"},\n  {"title": "no id"},\n{\n"id": "b"}\n]\n', "papers.json")

    assert (a.id, b.id) == ("a", "b")
    assert (a.origin.line, dead.line, b.origin.line) == (2, 3, 4)


@pytest.mark.parametrize(
    "response",
    [
        '{"status": "ok", "message": {"facets": {"a": [1]}, "items": [{"id": "a"}, {"id": "b"}]}}',
        '{"items": [ {"id": "a"}, {"id": "b"} ] }',
        '{"meta": {"count": 2, "x": "[{"}, "results": [{"id": "a"}, {"id": "b"}], "group_by": []}',
        '\ufeff[{"id": "a"}]\n[{"id": "b"}]',
    ],
)
def test_the_records_of_a_response_are_in_its_array(response):
    assert [item.id for item in read(response.encode(), "response.json")] == ["a", "b"]


def test_a_record_of_a_json_file_may_have_lists_of_its_own():
    (paper,) = read(b'{"id": "a", "items": ["x"], "results": []}', "a.json")

    assert paper.id == "a"


@pytest.mark.parametrize(
    ("array", "line", "fact"),
    [
        (b'[{"id": "a"},\n{"id": "b', 2, "truncated"),
        (b'[{"id": "a"},\n', 2, "truncated"),
        (b'[{"id": "a"},\n{"id": b}, {"id": "c"}]', 2, "character 8"),
        (b'[{"id": "a"}]\nrest', 2, "after the end"),
        (b'[{"id": "a"},\n' + b"[" * 100_000, 2, "nested"),
        (b'[{"id": "a"},\n{"id": "\xff"}]', 2, "byte 9"),
        (b'[{"id": "a"},\n17]', 2, "number"),
    ],
)
def test_what_is_wrong_in_an_array_is_one_dead_letter_with_its_line(array, line, fact):
    paper, dead = read(array, "papers.json")

    assert (paper.id, dead.line) == ("a", line)
    assert fact in dead.reason


def test_an_element_over_64_mib_is_not_held_in_memory():
    class Long:
        given = 0

        def __init__(self):
            self.blocks = iter([b'[{"id": "a"}, {"id": "', *[b"x" * (1 << 20)] * 200])

        def read1(self, size):
            self.given += 1
            return next(self.blocks, b"")

    file = Long()
    paper, dead = items_of(read_jsonl(Stream("papers.json", file)))

    assert (paper.id, str(LINE_BYTES) in dead.reason) == ("a", True)
    assert file.given < 140


def test_a_miracl_passage_is_taken_unchanged(tmp_path):
    path = tmp_path / "docs-0.jsonl.gz"
    path.write_bytes(
        gzip.compress(b'{"docid": "1#0", "title": "<b>T</b>", "text": " two  spaces http://a.b "}\n')
    )

    corpus = read_corpus([path])
    (passage,) = items_of(corpus)

    assert (corpus.format, corpus.unit) == ("miracl", "passage")
    assert (passage.id, passage.title, passage.abstract) == ("1#0", "<b>T</b>", " two  spaces http://a.b ")


def test_a_beir_passage_keeps_its_metadata(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "4983", "title": "T", "text": "A text.", "metadata": {"url": "u"}}\n')

    corpus = read_corpus([path])
    (passage,) = items_of(corpus)

    assert (corpus.format, corpus.unit) == ("beir", "passage")
    assert passage.record() == {
        "id": "4983",
        "title": "T",
        "abstract": "A text.",
        "lang": "en",
        "metadata": {"url": "u"},
    }


@given(st.binary(max_size=400), st.sampled_from(["a.jsonl", "a.json"]), st.integers(1, 50))
def test_no_bytes_stop_the_reader(content, name, step):
    for item in read_jsonl(Stream(name, Bytes(content, step))):
        assert isinstance(item, Paper | DeadLetter)
