"""read_corpus: the files of a corpus, their formats, links, and progress."""

import json
import os

import pytest

from base.errors import UnknownPath
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from indexer.corpora.readers.files import corpus_names
from indexer.errors import UnknownFormat
from tests.indexer.corpora.readers.items import ids, items_of


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with two files, beside a folder with a third one."""
    for name in ("corpus/a", "corpus/sub/b", "secret/s"):
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"id": path.stem}) + "\n")
    return tmp_path / "corpus"


REFUSED = {
    "two units": ({"a.jsonl": '{"docid": "1#0"}', "b.csv": "id\n1"}, r"a\.jsonl is miracl, .*b\.csv is csv"),
    "unknown XML": ({"a.xml": "<settings/>"}, "root <settings>"),
}


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_corpora_without_one_unit_or_a_format_are_refused(tmp_path, files, reason):
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    with pytest.raises(UnknownFormat, match=reason):
        read_corpus([tmp_path])


def test_a_given_format_takes_its_files_of_a_folder_and_any_named_file(tmp_path):
    for name, content in {
        "a.jsonl": '{"docid": "1#0"}',
        "b.csv": "id\n1",
        "c.csv.gz": "",
        "x.dat": "id;title\na;T\n",
    }.items():
        (tmp_path / name).write_text(content)

    found = read_corpus([tmp_path], format="miracl")

    assert found.files == [f"{tmp_path}/a.jsonl"]
    assert found.left_out.endings == {".csv": 2, ".dat": 1}
    assert ids(read_corpus([tmp_path / "x.dat"], format="csv")) == ["a"]


def test_files_without_a_record_are_of_any_unit(tmp_path):
    for name, content in {"a.jsonl": "", "b.jsonl": '{"docid": "1#0"}', "c.xml": ""}.items():
        (tmp_path / name).write_text(content)

    found = read_corpus([tmp_path])

    assert (found.formats["miracl"], found.unit, ids(found)) == (2, "passage", ["1#0"])


@pytest.mark.parametrize("path", ["", "nothing", "pipe.jsonl"])
def test_paths_that_are_neither_file_nor_folder_are_refused(tmp_path, path):
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(UnknownPath):
        read_corpus([tmp_path / path if path else path])


def test_folders_are_read_in_sorted_order_and_paths_in_the_order_given(tmp_path):
    for name in ("b/z.jsonl", "b/a/1.JSONL", "b/b.ndjson", "a.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"id": "a"}')

    found = read_corpus([tmp_path / "b", tmp_path / "a.json"])

    assert [os.path.relpath(name, tmp_path) for name in found.files] == [
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
        "README.md a/Readme_ko.TXT LICENSE.txt.gz licenses.md readme.jsonl",
        "licenses.md readme.jsonl",
    ),
    "of copies the PDF is read before Markdown and text": (
        "a.md a.pdf a.txt b.md.gz b.txt c.txt c.txt.gz c.jsonl x/a.txt",
        "a.pdf b.md.gz c.jsonl c.txt x/a.txt",
    ),
    "topics and judgements are no corpus": (
        "papers.jsonl qrels/test.tsv topics.dev.tsv queries.jsonl questionnaires.jsonl",
        "papers.jsonl questionnaires.jsonl",
    ),
}


@pytest.mark.parametrize(("listing", "read"), LISTINGS.values(), ids=LISTINGS)
def test_some_files_of_a_folder_are_a_corpus(listing, read):
    assert list(corpus_names(listing.split())) == read.split()


# Links below the folder `corpus`, the option, the files that are read and the links that are left out.
LINKS = {
    "out of the folder": (
        {"file.jsonl": "../secret/s.jsonl", "folder": "../secret", "sub/up": "../.."},
        False,
        "a.jsonl sub/b.jsonl",
        "file.jsonl folder sub/up",
    ),
    "out of the folder on request, each file once": (
        {"sub/up": "../..", "z.jsonl": "../secret/s.jsonl"},
        True,
        "a.jsonl sub/b.jsonl z.jsonl",
        "",
    ),
    "within the folder": (
        {"0.jsonl": "a.jsonl", "0": "sub", "sub/up": ".."},
        False,
        "a.jsonl sub/b.jsonl",
        "",
    ),
    "to names that are none of a corpus": (
        {"x.jsonl": ".store/x", "y.jsonl": "blob", "z.jsonl": "blob"},
        False,
        "a.jsonl sub/b.jsonl x.jsonl y.jsonl",
        "",
    ),
    "to nothing and to themselves": (
        {"gone.jsonl": "nothing.jsonl", "self.jsonl": "self.jsonl"},
        True,
        "a.jsonl sub/b.jsonl",
        "gone.jsonl self.jsonl",
    ),
}


@pytest.mark.parametrize(("links", "follow", "read", "left_out"), LINKS.values(), ids=LINKS)
def test_links_are_followed_within_the_folder(corpus, links, follow, read, left_out):
    (corpus / ".store").mkdir()
    for name in (".store/x", "blob"):
        (corpus / name).write_text(json.dumps({"id": name}))
    for name, target in links.items():
        (corpus / name).symlink_to(target)

    found = read_corpus([corpus], follow_links=follow)

    assert [os.path.relpath(name, corpus) for name in found.files] == read.split()
    assert [os.path.relpath(name, corpus) for name in found.left_out.links] == left_out.split()


def test_a_link_that_is_named_itself_is_followed(corpus):
    (corpus.parent / "link").symlink_to("corpus")

    assert ids(read_corpus([corpus.parent / "link"])) == ["a", "b"]


def test_special_files_are_listed_and_never_opened(corpus):
    os.mkfifo(corpus / "f.jsonl")
    (corpus / "sub" / "link.txt").symlink_to("../f.jsonl")

    found = read_corpus([corpus]).left_out

    assert found.as_record()["special"] == {
        "count": 2,
        "first": [f"{corpus}/f.jsonl", f"{corpus}/sub/link.txt"],
    }


def test_reading_again_yields_the_same_items_and_bytes(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "bb"}\nno\n')
    found = read_corpus([tmp_path])

    assert (found.total_bytes, found.bytes_read) == (28, 0)
    assert [found.bytes_read for _ in found] == [12, 28, 28]
    assert found.bytes_read == 28
    assert list(found) == list(found)


def test_skipped_files_are_not_read(corpus):
    found = read_corpus([corpus])
    found.skip({f"{corpus}/a.jsonl"})

    assert (ids(found), found.total_bytes, found.bytes_read) == (["b"], 12, 12)
    assert list(found.sources) == [f"{corpus}/a.jsonl", f"{corpus}/sub/b.jsonl"]


@pytest.mark.parametrize("become", [lambda path: None, os.mkfifo], ids=["nothing", "pipe"])
def test_a_file_that_is_gone_or_a_pipe_since_is_one_dead_letter(corpus, become):
    found = read_corpus([corpus])
    (corpus / "a.jsonl").unlink()
    become(corpus / "a.jsonl")

    dead, paper = items_of(found)

    assert (dead.file, dead.line, paper.id) == (f"{corpus}/a.jsonl", 0, "b")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_and_a_folder_without_permission_are_dead_letters(corpus):
    (corpus / "c.jsonl").write_text('{"id": "c"}')
    (corpus / "a.jsonl").chmod(0)
    (corpus / "sub").chmod(0)

    found = read_corpus([corpus])
    refused = [item.file for item in items_of(found) if not isinstance(item, Paper)]
    (corpus / "sub").chmod(0o700)

    assert (refused, found.formats) == ([f"{corpus}/sub", f"{corpus}/a.jsonl"], {"jsonl": 1})


def test_a_file_name_that_is_no_utf8_is_escaped_in_dead_letters(tmp_path):
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
    found = read_corpus([shared_data / folder])

    assert (found.format, found.unit) == (format_, unit)
    assert sum(isinstance(item, Paper) for item in found) == sum(1 for _ in found) == papers


def test_the_example_of_the_api_is_read(shared_data):
    first, second = items_of(read_corpus([shared_data / "scienceon-example.xml"]))

    assert (first.keywords, first.authors) == (["예시", "형식", "format"], ["가나다", "라마바"])
    assert second.record() == {
        "id": "NART00000002",
        "title": "A record with a title and nothing else",
        "lang": "en",
    }
