"""read_corpus: which files belong to a corpus, which format they have, and how far reading has come."""

import os

import pytest

from base.errors import UnknownPath
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from indexer.corpora.readers.folders import corpus_names
from indexer.errors import UnknownFormat
from tests.indexer.corpora.readers.items import items_of


def write(folder, **files):
    """Write files, `__` in the names standing for the dot and `_in_` for the slash."""
    for name, content in files.items():
        path = folder / name.replace("_in_", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def names(corpus, folder):
    return [name.removeprefix(f"{folder}/") for name in corpus.files]


@pytest.mark.parametrize(
    ("line", "format_", "unit"),
    [
        ('{"docid": "1#0", "text": "T"}', "miracl", "passage"),
        ('{"_id": "1", "text": "T"}', "beir", "passage"),
        ('{"CN": "1", "Title": "T"}', "scienceon", "paper"),
        ('{"id": "1", "title": "T"}', "jsonl", "paper"),
    ],
)
def test_the_first_record_tells_the_format(tmp_path, line, format_, unit):
    (tmp_path / "a.jsonl").write_text(f"not JSON\n[]\n{line}\n")

    corpus = read_corpus([tmp_path / "a.jsonl"])

    assert (corpus.format, corpus.unit) == (format_, unit)


def test_the_ending_does_not_matter_where_the_beginning_tells_the_format(tmp_path):
    (tmp_path / "corpus.txt").write_text('{"docid": "1#0"}\n')

    assert read_corpus([tmp_path / "corpus.txt"]).format == "miracl"


def test_a_given_format_is_not_looked_for(tmp_path):
    (tmp_path / "papers.dat").write_text("id;title\na;T\n")

    assert [paper.title for paper in items_of(read_corpus([tmp_path / "papers.dat"], format="csv"))] == ["T"]


@pytest.mark.parametrize("name", ["a.json", "a.dat", "a.txt"])
def test_an_array_of_records_is_recognised_by_its_first_record(tmp_path, name):
    (tmp_path / name).write_text('[\n{"docid": "1#0"}]')

    corpus = read_corpus([tmp_path / name])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("miracl", ["1#0"])


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may list every folder")
def test_a_folder_that_cannot_be_listed_has_no_format(tmp_path):
    write(tmp_path, a__jsonl='{"docid": "1#0"}', b__pdf_in_c__pdf="")
    (tmp_path / "b.pdf").chmod(0)

    corpus = read_corpus([tmp_path])
    (tmp_path / "b.pdf").chmod(0o700)

    assert (corpus.formats, corpus.unit) == ({"miracl": 1}, "passage")


def test_passages_and_papers_at_once_are_refused_with_a_file_of_each(tmp_path):
    write(tmp_path, a__jsonl='{"docid": "1#0"}', b__csv="id\n1")

    with pytest.raises(UnknownFormat, match=r"a\.jsonl is miracl, .*b\.csv is csv"):
        read_corpus([tmp_path])


def test_a_given_format_takes_only_its_files_of_a_folder_and_counts_the_others(tmp_path):
    write(tmp_path, a__jsonl='{"docid": "1#0"}', b__csv="id\n1", c__csv="id\n2")

    corpus = read_corpus([tmp_path], format="miracl")

    assert names(corpus, tmp_path) == ["a.jsonl"]
    assert (corpus.left_out.endings, corpus.left_out.first) == ({".csv": 2}, {".csv": "b.csv"})


def test_files_without_a_record_take_the_format_that_their_ending_allows_and_are_of_any_unit(tmp_path):
    write(tmp_path, a__jsonl="", b__jsonl='{"docid": "1#0"}', c__xml="")

    corpus = read_corpus([tmp_path])

    assert (corpus.formats, corpus.unit) == ({"miracl": 2, "scienceon": 1}, "passage")


def test_what_is_neither_file_nor_folder_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")

    for path in ("", tmp_path / "pipe.jsonl"):
        with pytest.raises(UnknownPath):
            read_corpus([path])


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_a_corpus_of_nothing(tmp_path, content):
    (tmp_path / "a.jsonl").write_text(content)

    corpus = read_corpus([tmp_path / "a.jsonl"])

    assert (corpus.format, list(corpus)) == ("jsonl", [])


def test_an_empty_folder_is_a_corpus_of_nothing(tmp_path):
    corpus = read_corpus([tmp_path])

    assert (corpus.format, corpus.files, corpus.total_bytes, list(corpus)) == ("jsonl", [], 0, [])


def test_folders_are_read_in_sorted_order_and_paths_in_the_order_given(tmp_path):
    line = '{"id": "a"}'
    write(tmp_path, b_in_z__jsonl=line, b_in_a_in_1__JSONL=line, b_in_b__ndjson=line, a__json=line)

    assert names(read_corpus([tmp_path / "b", tmp_path / "a.json"]), tmp_path) == [
        "b/a/1.JSONL",
        "b/b.ndjson",
        "b/z.jsonl",
        "a.json",
    ]


LISTINGS = {
    "hidden files and other endings are left out": (
        ".a.jsonl .git/b.jsonl c.docx d.tar.gz e.XML.gz f.zip g.tsv.gz",
        "e.XML.gz f.zip g.tsv.gz",
    ),
    "texts about the corpus are no papers": (
        "README.md a/Readme_ko.TXT LICENSE.txt licenses.md readme.jsonl",
        "licenses.md readme.jsonl",
    ),
    "of copies the PDF is read before Markdown and text": (
        "a.md a.pdf a.txt b.md.gz b.txt c.txt c.jsonl x/a.txt",
        "a.pdf b.md.gz c.jsonl c.txt x/a.txt",
    ),
    "topics and judgements are no corpus": (
        "papers.jsonl qrels/test.tsv topics.dev.tsv questions.jsonl questionnaires.jsonl",
        "papers.jsonl questionnaires.jsonl",
    ),
    "of BEIR's layout only the corpus is read": (
        "x/corpus.jsonl x/queries.jsonl x/qrels/test.tsv x/more.jsonl y/more.jsonl",
        "x/corpus.jsonl y/more.jsonl",
    ),
}


@pytest.mark.parametrize(("listing", "read"), LISTINGS.values(), ids=LISTINGS)
def test_some_files_of_a_folder_are_a_corpus(listing, read):
    assert list(corpus_names(listing.split())) == read.split()


def test_reading_again_yields_the_same_items(tmp_path):
    write(tmp_path, a__jsonl='{"id": "a"}\nno\n', b__jsonl='{"id": "b"}')
    corpus = read_corpus([tmp_path])

    assert list(corpus) == list(corpus)
    assert len(list(corpus)) == 3


def test_the_bytes_read_grow_to_those_on_disk_and_begin_anew(tmp_path):
    write(tmp_path, a__jsonl='{"id": "a"}\n', b__jsonl='{"id": "bb"}\n')
    corpus = read_corpus([tmp_path])

    assert (corpus.total_bytes, corpus.bytes_read) == (25, 0)
    assert [corpus.bytes_read for _ in corpus] == [12, 25]
    assert corpus.bytes_read == 25
    next(iter(corpus))
    assert corpus.bytes_read == 12


@pytest.mark.parametrize("become", [lambda path: None, os.mkfifo], ids=["nothing", "pipe"])
def test_a_file_that_is_gone_or_a_pipe_since_is_one_dead_letter_and_is_not_waited_for(tmp_path, become):
    write(tmp_path, a__jsonl='{"id": "a"}\n', b__jsonl='{"id": "b"}\n')
    corpus = read_corpus([tmp_path])
    (tmp_path / "a.jsonl").unlink()
    become(tmp_path / "a.jsonl")

    dead, paper = items_of(corpus)

    assert (dead.file, dead.line, paper.id) == (f"{tmp_path}/a.jsonl", 0, "b")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_and_a_folder_without_permission_are_dead_letters(tmp_path):
    write(tmp_path, a__jsonl='{"id": "a"}\n', b_in_c__jsonl="{}")
    (tmp_path / "a.jsonl").chmod(0)
    (tmp_path / "b").chmod(0)

    refused = [dead.file for dead in items_of(read_corpus([tmp_path]))]
    (tmp_path / "b").chmod(0o700)

    assert refused == [f"{tmp_path}/b", f"{tmp_path}/a.jsonl"]


def test_a_file_name_that_is_no_utf8_is_told_in_text_that_can_be_stored(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.jsonl")).write_text("no\n")

    (dead,) = items_of(read_corpus([tmp_path]))

    assert dead.file == f"{tmp_path}/\\udcff.jsonl"


@pytest.mark.parametrize(
    ("folder", "format_", "unit", "papers"),
    [
        ("tydi-goldp/miracl-corpus-v1.0-ko", "miracl", "passage", 1488),
        ("tydi-goldp/miracl-corpus-v1.0-en", "miracl", "passage", 3858),
        ("scifact", "jsonl", "paper", 5183),
        ("hotpotqa-100", "jsonl", "paper", 994),
    ],
)
def test_the_shared_corpora_are_read_whole(shared_data, folder, format_, unit, papers):
    corpus = read_corpus([shared_data / folder])

    assert (corpus.format, corpus.unit) == (format_, unit)
    assert sum(isinstance(item, Paper) for item in corpus) == sum(1 for _ in corpus) == papers
