"""gzip and zip, whole and damaged: what is whole is read, the rest is one dead letter."""

import gzip
import random
import re
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, files, read_corpus
from tests.indexer.corpora.readers.items import dead, ids, items_of


def lines(count):
    noise = random.Random(1)
    return b"".join(
        b'{"id": "P%d", "title": "%x"}\n' % (number, noise.getrandbits(400)) for number in range(count)
    )


def packed(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


A, B = '{"id": "a"}', '{"id": "b"}'
MEMBERS = {
    "sorted, without hidden files and texts about the corpus": (
        {"b/2.jsonl": B, "a.jsonl": f"{A}\nno", "b/.hidden.jsonl": "no", "readme.txt": "no"},
        ["a", "b"],
        {"a.jsonl": "JSON"},
    ),
    "a parent folder": ({"a.jsonl": A, "../out.jsonl": B}, ["a"], {"../out.jsonl": "leads out"}),
    "a root": ({"a.jsonl": A, "/out.jsonl": B}, ["a"], {"/out.jsonl": "leads out"}),
    "a parent within": ({"a.jsonl": A, "a/../../out.jsonl": B}, ["a"], {"a/../../out.jsonl": "leads out"}),
    "a drive": ({"a.jsonl": A, "C:/out.jsonl": B}, ["a"], {"C:/out.jsonl": "leads out"}),
    "a parent of Windows": ({"a.jsonl": A, "..\\out.jsonl": B}, ["a"], {"..\\out.jsonl": "leads out"}),
    "archives": (
        {"a.jsonl": A, "b.zip": b"PK", "c.jsonl.gz": gzip.compress(b"{}")},
        ["a"],
        {"b.zip": "unpack it first", "c.jsonl.gz": "unpack it first"},
    ),
    "a member of no format": (
        {"a.md": "# A", "b.md": "# B", "s.xml": "<settings/>"},
        ["a", "b"],
        {"s.xml": "<settings>"},
    ),
    "a member without a record": ({"a.md": "# A", "b.jsonl": ""}, ["a"], {}),
}


@pytest.mark.parametrize(("members", "read", "refused"), MEMBERS.values(), ids=MEMBERS)
def test_members_are_read_or_are_one_dead_letter_each(tmp_path, members, read, refused):
    path = packed(tmp_path / "c.zip", members)

    items = items_of(read_corpus([path]))

    assert ids(items) == read
    letters = {letter.file.removeprefix(f"{path}/"): letter.reason for letter in dead(items)}
    assert letters.keys() == refused.keys()
    assert all(reason in letters[name] for name, reason in refused.items())


def test_records_of_all_archives_come_before_documents(tmp_path):
    for name in ("1.zip", "2.zip"):
        packed(tmp_path / name, {"a.md": "# A", "b.jsonl": B, "c.txt": "C"})
    corpus = read_corpus([tmp_path])

    assert ids(corpus) == ["b", "b", "1.zip/c", "2.zip/c", "1.zip/a", "2.zip/a"]
    assert corpus.files == [f"{tmp_path}/1.zip", f"{tmp_path}/2.zip"]
    assert corpus.formats == {"jsonl": 2, "text": 2, "markdown": 2}
    assert corpus.bytes_read == corpus.total_bytes
    assert corpus.sources == [f"{tmp_path}/1.zip", f"{tmp_path}/2.zip"]


@pytest.mark.parametrize("name", ["c.zip", "c.jsonl.gz"])
def test_an_archive_that_cannot_be_opened_is_one_dead_letter(tmp_path, name):
    packed(tmp_path / "c.zip", {"a.jsonl": lines(100)})
    path = tmp_path / name
    path.write_bytes((tmp_path / "c.zip").read_bytes()[:-30])

    (letter,) = items_of(read_corpus([path]))

    assert (letter.file, letter.line) == (str(path), 0)


def test_small_members_of_repetition_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BOMB_BYTES", 100_000)
    path = packed(tmp_path / "c.zip", {f"{number:02}.jsonl": b" " * 90_000 for number in range(90)})

    items = items_of(read_corpus([path]))

    assert [re.findall(r"\d+", letter.reason) for letter in items] == [["200"]]


def test_a_member_of_damaged_data_is_one_dead_letter_and_the_next_is_read(tmp_path):
    path = packed(tmp_path / "c.zip", {"a.jsonl": lines(5), "b.jsonl": B}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[content.index(b'"title"')] ^= 1
    path.write_bytes(content)

    letter, paper = items_of(read_corpus([path]))

    assert letter.file == f"{path}/a.jsonl"
    assert paper.id == "b"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
@given(st.data(), st.sampled_from(["c.zip", "c.jsonl.gz", "c.xml.gz"]))
def test_no_damage_stops_the_reader(tmp_path, data, name):
    path = tmp_path / name
    if name == "c.zip":
        packed(path, {"a.jsonl": lines(3), "b.csv": "id,title\na,b\n"})
    else:
        path.write_bytes(gzip.compress(lines(3)))
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=5)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])

    for item in read_corpus([path], format="scienceon" if "xml" in name else "jsonl"):
        assert isinstance(item, Paper | DeadLetter)
