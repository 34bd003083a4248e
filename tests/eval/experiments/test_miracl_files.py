"""The layout of MIRACL's files, and errors of incomplete folders."""

import gzip
import hashlib
import json

import pytest

from base.errors import UnknownPath
from eval.experiments.miracl_files import find_files
from indexer.errors import UnknownFormat

CORPUS, DATA = "miracl-corpus-v1.0-ko", "miracl-v1.0-ko"
TOPICS = f"{DATA}/topics/topics.miracl-v1.0-ko-dev.tsv"
QRELS = f"{DATA}/qrels/qrels.miracl-v1.0-ko-dev.tsv"


def passages(*records):
    return gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode(), mtime=0)


@pytest.fixture
def folder(tmp_path):
    """Return a folder in the layout, with two files of the corpus."""
    files = {
        f"{CORPUS}/docs-0.jsonl.gz": passages({"docid": "1#0", "title": "가", "text": "나"}),
        f"{CORPUS}/docs-1.jsonl.gz": passages({"docid": "2#0", "title": "다", "text": "라"}),
        TOPICS: "q\t질문\n".encode(),
        QRELS: b"q\t0\t1#0\t1\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def found(folder, **options):
    return find_files("ko", "dev", folder=str(folder), **options)


def test_the_files_of_a_language_and_split_are_found(folder):
    files = found(folder)
    assert [path.name for path in files.corpus] == ["docs-0.jsonl.gz", "docs-1.jsonl.gz"]
    assert (files.topics, files.qrels) == (folder / TOPICS, folder / QRELS)


def test_files_are_in_the_order_of_their_numbers(folder):
    for number in range(2, 11):
        (folder / CORPUS / f"docs-{number}.jsonl.gz").write_bytes(
            passages({"docid": "", "title": "", "text": ""})
        )
    assert [path.name for path in found(folder).corpus][-2:] == ["docs-9.jsonl.gz", "docs-10.jsonl.gz"]


def test_the_digest_of_a_corpus_depends_on_names_and_contents(folder):
    sums = [hashlib.sha256((folder / CORPUS / f"docs-{n}.jsonl.gz").read_bytes()).hexdigest() for n in (0, 1)]
    lines = f"docs-0.jsonl.gz {sums[0]}\ndocs-1.jsonl.gz {sums[1]}\n"
    assert found(folder).digest() == hashlib.sha256(lines.encode()).hexdigest()


def test_topics_and_qrels_may_be_elsewhere(folder):
    (folder / TOPICS).rename(folder / "topics.tsv")
    (folder / QRELS).rename(folder / "qrels.tsv")
    files = found(folder, topics=str(folder / "topics.tsv"), qrels=str(folder / "qrels.tsv"))
    assert (files.topics, files.qrels) == (folder / "topics.tsv", folder / "qrels.tsv")


@pytest.mark.parametrize("name", [TOPICS, QRELS, f"{CORPUS}/docs-0.jsonl.gz"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(UnknownPath) as raised:
        found(folder)
    assert name.rpartition("/")[2].partition(".jsonl")[0] in raised.value.what


def test_a_folder_without_a_corpus_is_named(folder, tmp_path):
    with pytest.raises(UnknownPath) as raised:
        found(folder / DATA)
    assert str(folder / DATA / CORPUS) in raised.value.what


def test_a_folder_with_other_files_is_no_corpus(folder):
    for number in (0, 1):
        (folder / CORPUS / f"docs-{number}.jsonl.gz").rename(folder / CORPUS / f"part-{number}.gz")
    with pytest.raises(UnknownPath, match=r"part-0\.gz"):
        found(folder)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (passages({"_id": "1", "title": "가", "text": "나"}), "docid"),
        (passages({"docid": "1#0", "title": "가"}), "text"),
        (gzip.compress(b"docid\ttitle\ttext\n", mtime=0), "not JSON"),
        (b"no gzip", "damaged"),
        (b"", "not JSON"),
    ],
)
def test_a_file_of_another_format_is_named_with_its_line(folder, content, named):
    path = folder / CORPUS / "docs-1.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(UnknownFormat) as raised:
        found(folder)
    assert f"{path}:1: " in raised.value.what
    assert named in raised.value.what
