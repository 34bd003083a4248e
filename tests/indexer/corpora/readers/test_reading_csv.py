import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, parse_columns, read_corpus
from indexer.corpora.readers.csv import read_csv
from indexer.corpora.readers.streams import Stream
from indexer.errors import UnknownFormat


def read(text, columns=None, name="papers.csv"):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_csv(Stream(name, BytesIO(content)), columns))


def test_columns_called_like_our_fields_are_read_and_others_are_kept():
    (paper,) = read(
        "\ufeffID,Title,text,Year,authors,keywords,References,cited_by_count,Note\r\n"
        'P1,"A ""title"", quoted","Two\r\nlines",2019,Kim; Lee,a|b,P2;P3,12,kept\r\n'
    )

    assert paper.record() == {
        "id": "P1",
        "title": 'A "title", quoted',
        "abstract": "Two\r\nlines",
        "year": 2019,
        "authors": ["Kim", "Lee"],
        "keywords": ["a", "b"],
        "references": ["P2", "P3"],
        "cited_by_count": 12,
        "lang": "en",
        "Note": "kept",
    }


def test_columns_can_be_named():
    (paper,) = read("Number,Name,title\nP1,The name,The other\n", {"id": "Number", "title": "Name"})

    assert paper.record() == {"id": "P1", "title": "The name", "lang": "en", "csv:title": "The other"}


def test_empty_cells_are_absent_and_empty_rows_are_passed_over():
    (paper,) = read("id,title,year\n\n,,\nP1,,\n")

    assert paper.record() == {"id": "P1", "lang": "other"}


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_the_header_tells_what_separates_cells(separator):
    (paper,) = read(separator.join(["id", "title"]) + "\n" + separator.join(["P1", "T"]))

    assert (paper.id, paper.title) == ("P1", "T")


def test_a_language_by_name_is_read_and_an_unknown_one_kept():
    korean, other = read("id,title,language\nA,T,Korean\nB,T,일본어\n")

    assert (korean.lang, other.lang, other.record()["csv:language"]) == ("ko", "en", "일본어")


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        (b"P1,a,b", "3 cells"),
        (b"P1", "1 cells"),
        (b"P1,\xff", "invalid UTF-8"),
        (b"P1,a\0b", "a NUL byte"),
        (b",no id", "id: "),
        (b"P 1,a", "id: "),
    ],
)
def test_a_bad_row_is_one_dead_letter_and_reading_goes_on(row, fact):
    before, dead, after = read(b"id,title\nbefore,a\n" + row + b"\nafter,b\n")

    assert (dead.file, dead.line, dead.head) == ("papers.csv", 3, row.decode("utf-8", "backslashreplace"))
    assert fact in dead.reason
    assert (before.id, after.id) == ("before", "after")


def test_a_row_over_several_lines_is_named_by_its_first():
    (dead,) = read('id,title\n"P 1","one\ntwo"\n')

    assert (dead.line, dead.head) == (2, '"P 1","one')


@pytest.mark.parametrize(
    ("table", "facts"),
    [
        ("id,year\nP1,soon\n", ["year: "]),
        ("name,year\na,2019\nb,2020\n", ["name, year", "--columns id=COLUMN"]),
    ],
    ids=["year", "no id"],
)
def test_a_table_that_cannot_be_used_is_one_dead_letter_with_the_column(table, facts):
    (dead,) = read(table)

    assert all(fact in dead.reason for fact in facts)


def test_a_cell_of_5_mb_is_read():
    (paper,) = read("id,abstract\nP1," + "x" * 5_000_000)

    assert len(paper.abstract) == 5_000_000


def test_pairs_of_field_and_column_are_parsed():
    assert parse_columns("id=Doc No, text=Body=x") == {"id": "Doc No", "abstract": "Body=x"}


@pytest.mark.parametrize("text", ["", "id", "id=", "=a", "number=a"])
def test_pairs_that_are_none_are_refused(text):
    with pytest.raises(InvalidCall, match="id, title, abstract"):
        parse_columns(text)
    with pytest.raises(InvalidCall, match="'a' and 'b'"):
        parse_columns("id=a,id=b")


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [("papers.csv", "No,Name\n1,a\n", "'Number'.* No, Name"), ("papers.jsonl", '{"id": "a"}\n', "jsonl")],
)
def test_a_named_column_that_no_table_has_is_refused_at_once(tmp_path, name, text, facts):
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(UnknownFormat, match=facts):
        read_corpus([path], columns={"id": "Number"})


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_stop_the_reader(content, with_header):
    for item in read(b"id,title\n" * with_header + content):
        assert isinstance(item, Paper | DeadLetter)


@pytest.mark.parametrize(
    "members", [{"a.csv": "no,title\n1,A\n", "b.md": "# B"}, {"a.md": "# A", "b.csv": "no\n1\n"}]
)
def test_columns_are_looked_for_in_the_tables_of_an_archive_alone(tmp_path, members):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)

    assert len(list(read_corpus([tmp_path / "c.zip"], columns={"id": "no"}))) == 2
    with pytest.raises(UnknownFormat, match=r"\.csv .*'Number'"):
        read_corpus([tmp_path / "c.zip"], columns={"id": "Number"})


def test_empty_lines_within_a_cell_stay_and_between_rows_count(tmp_path):
    first, dead = read('id,title\n\n\n1,"A\n\n\nB"\n\n\n2\n')

    assert first.title == "A\n\n\nB"
    assert dead.line == 10
