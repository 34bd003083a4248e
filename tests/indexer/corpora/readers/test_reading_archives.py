"""gzip and zip, whole and damaged: what was whole is read, the rest is one dead letter."""

import gzip
import random
import re
import struct
import time
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus, streams
from indexer.errors import UnknownFormat
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


def test_gzip_files_joined_to_one_are_read_on(tmp_path):
    path = tmp_path / "papers.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "a"}\n') + gzip.compress(b'{"id": "b"}\n'))

    assert ids(read_corpus([path])) == ["a", "b"]


def test_an_empty_gzip_holds_nothing(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(b"")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b""))

    assert list(read_corpus([tmp_path])) == []


def test_the_members_of_a_zip_are_read_in_sorted_order_under_their_names(tmp_path):
    path = packed(
        tmp_path / "c.zip",
        {
            "b/2.jsonl": '{"id": "b"}',
            "a.jsonl": '{"id": "a"}\nno',
            "b/.hidden.jsonl": "no",
            "readme.txt": "no",
        },
    )

    items = items_of(read_corpus([path]))

    assert ids(items) == ["a", "b"]
    assert [(letter.file, letter.line) for letter in dead(items)] == [(f"{path}/a.jsonl", 2)]


@pytest.mark.parametrize(
    "outside", ["../out.jsonl", "/out.jsonl", "a/../../out.jsonl", "C:/out.jsonl", "..\\out.jsonl"]
)
def test_a_member_outside_is_one_dead_letter_and_the_others_are_read(tmp_path, outside):
    path = packed(tmp_path / "c.zip", {"a.jsonl": '{"id": "a"}', outside: '{"id": "out"}'})

    letter, paper = items_of(read_corpus([path]))

    assert (letter.file, letter.line) == (f"{path}/{outside}", 0)
    assert paper.id == "a"


def test_archives_in_an_archive_are_dead_letters(tmp_path):
    path = packed(
        tmp_path / "c.zip", {"a.jsonl": '{"id": "a"}', "b.zip": b"PK", "c.jsonl.gz": gzip.compress(b"{}")}
    )

    paper, *letters = items_of(read_corpus([path]))

    assert paper.id == "a"
    assert [letter.file for letter in letters] == [f"{path}/b.zip", f"{path}/c.jsonl.gz"]


def test_an_encrypted_member_is_a_dead_letter(tmp_path):
    path = packed(tmp_path / "c.zip", {"a.jsonl": '{"id": "a"}'})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + offset
        content[place : place + 2] = struct.pack("<H", 1)
    path.write_bytes(content)

    (letter,) = items_of(read_corpus([path]))

    assert "encrypted" in letter.reason


@pytest.mark.parametrize("name", ["c.zip", "c.jsonl.gz"])
def test_an_archive_that_cannot_be_opened_is_one_dead_letter(tmp_path, name):
    packed(tmp_path / "c.zip", {"a.jsonl": lines(100)})
    path = tmp_path / name
    path.write_bytes((tmp_path / "c.zip").read_bytes()[:-30])

    (letter,) = items_of(read_corpus([path]))

    assert (letter.file, letter.head) == (str(path), "")


def test_many_small_members_of_repetition_are_stopped_too(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BOMB_BYTES", 100_000)
    path = packed(tmp_path / "c.zip", {f"{number:02}.jsonl": b" " * 90_000 for number in range(90)})

    items = items_of(read_corpus([path]))

    assert [re.findall(r"\d+", letter.reason) for letter in items] == [["200"]]


def test_a_member_of_damaged_data_is_one_dead_letter_and_the_next_is_read(tmp_path):
    path = packed(tmp_path / "c.zip", {"a.jsonl": lines(5), "b.jsonl": '{"id": "b"}'}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[content.index(b'"title"')] ^= 1
    path.write_bytes(content)

    letter, paper = items_of(read_corpus([path]))

    assert letter.file == f"{path}/a.jsonl"
    assert paper.id == "b"


def test_damage_in_the_middle_of_gzip_data_is_one_dead_letter(tmp_path):
    path = tmp_path / "papers.jsonl.gz"
    content = bytearray(gzip.compress(lines(3000)))
    content[-8:-4] = struct.pack("<I", zlib.crc32(b"other"))
    path.write_bytes(content)

    *papers, letter = items_of(read_corpus([path]))

    assert len(papers) == 3000
    assert "CRC" in letter.reason


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


def test_a_member_of_no_known_format_is_one_dead_letter_and_the_others_are_read(tmp_path):
    path = packed(tmp_path / "c.zip", {"a.md": "# A", "b.md": "# B", "settings.xml": "<settings/>"})

    corpus = read_corpus([path])
    first, second, letter = items_of(corpus)

    assert corpus.formats == {"markdown": 2}
    assert (first.id, second.id, letter.file) == ("a", "b", f"{path}/settings.xml")
    assert "<settings>" in letter.reason


def test_an_archive_of_no_known_format_is_refused(tmp_path):
    path = packed(tmp_path / "c.zip", {"settings.xml": "<settings/>"})

    with pytest.raises(UnknownFormat, match=r"settings\.xml"):
        read_corpus([path])


def test_records_of_all_archives_come_before_documents_and_each_is_read_once(tmp_path):
    for name in ("1.zip", "2.zip"):
        packed(tmp_path / name, {"a.md": "# A", "b.jsonl": '{"id": "b"}', "c.txt": "C"})
    corpus = read_corpus([tmp_path])

    assert ids(corpus) == ["b", "b", "1.zip/c", "2.zip/c", "1.zip/a", "2.zip/a"]
    assert corpus.files == [f"{tmp_path}/1.zip", f"{tmp_path}/2.zip"]
    assert corpus.formats == {"jsonl": 2, "text": 2, "markdown": 2}
    assert corpus.bytes_read == corpus.total_bytes


def test_all_pdfs_of_archives_share_one_pool_of_processes(tmp_path, monkeypatch):
    pools = []

    def read_pdfs(streams, *_):
        pools.append([stream.name_in_corpus for stream in streams])
        return iter(())

    monkeypatch.setattr("indexer.corpora.readers.read_pdfs", read_pdfs)
    for name in ("1.zip", "2.zip"):
        packed(tmp_path / name, {"a.pdf": b"%PDF-", "b.md": "# B", "c.pdf": b"%PDF-"})

    assert ids(read_corpus([tmp_path])) == ["1.zip/b", "2.zip/b"]
    assert pools == [["1.zip/a.pdf", "1.zip/c.pdf", "2.zip/a.pdf", "2.zip/c.pdf"]]


def test_bad_members_of_an_archive_of_several_formats_are_one_dead_letter_each(tmp_path):
    path = packed(
        tmp_path / "c.zip", {"a.md": "# A", "b.jsonl": '{"id": "b"}', "../c.md": "# C", "d.zip": b""}
    )

    assert [letter.file for letter in dead(read_corpus([path]))] == [f"{path}/../c.md", f"{path}/d.zip"]


def test_a_member_without_a_record_is_read_in_the_format_of_its_ending(tmp_path):
    path = packed(tmp_path / "c.zip", {"a.md": "# A", "b.jsonl": ""})

    assert (ids(read_corpus([path])), dead(read_corpus([path]))) == (["a"], [])


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b" \n"])
def test_a_gzip_of_blank_lines_is_read_in_seconds_with_its_line_numbers(tmp_path, blank):
    path = tmp_path / "papers.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "a"}\n' + blank * 20_000_000 + b"no\n"))

    started = time.process_time()
    paper, letter = items_of(read_corpus([path]))

    assert (paper.id, letter.line) == ("a", 20_000_002)
    assert time.process_time() - started < 2.5
