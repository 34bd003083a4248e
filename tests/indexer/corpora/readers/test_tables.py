"""Tables: named columns, and the layouts of databases by their headings."""

import zipfile

import pytest

from base.errors import InvalidCall
from indexer.corpora.readers import parse_columns, read_corpus
from indexer.corpora.readers.table_layouts import KOREAN, OPENALEX, PUBMED, SCOPUS, ZOTERO, layout_of
from indexer.errors import UnknownFormat


@pytest.mark.parametrize("text", ["", "id", "id=", "=a", "number=a"])
def test_pairs_of_field_and_column_are_parsed_or_refused(text):
    assert parse_columns("id=Doc No, text=Body=x") == {"id": "Doc No", "abstract": "Body=x"}
    with pytest.raises(InvalidCall, match="id, title, abstract"):
        parse_columns(text)
    with pytest.raises(InvalidCall, match="'a' and 'b'"):
        parse_columns("id=a,id=b")


@pytest.mark.parametrize(
    "members", [{"a.csv": "no,title\n1,A\n", "b.md": "# B"}, {"a.md": "# A", "b.csv": "no\n1\n"}]
)
def test_named_columns_are_looked_for_in_tables_alone_and_refused_at_once(tmp_path, members):
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n')
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)

    assert len(list(read_corpus([tmp_path / "c.zip"], columns={"id": "no"}))) == 2
    with pytest.raises(UnknownFormat, match=r"\.csv .*'Number'.* no"):
        read_corpus([tmp_path / "c.zip"], columns={"id": "Number"})
    with pytest.raises(UnknownFormat, match="jsonl"):
        read_corpus([tmp_path / "a.jsonl"], columns={"id": "no"})


@pytest.mark.parametrize("keys", [KOREAN, SCOPUS, ZOTERO, PUBMED, OPENALEX])
def test_no_heading_has_two_meanings(keys):
    headings = [heading for listed in keys.values() for heading in listed.split()]

    assert len(set(headings)) == len(headings)
    assert layout_of(headings)
