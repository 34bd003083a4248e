import gzip
import json
import socket
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from base.errors import LibraryMissing, UnknownPath
from indexer.corpora.papers import Paper
from indexer.corpora.readers import hub, miracl, read_corpus
from indexer.errors import EmptyCorpus, UnknownFormat
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.made_corpora import answers, paper, write_jsonl

FOLDER = "hub:owner/name/folder"


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """Return the library, which keeps nothing but in a folder of the tests."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(datasets.config, "TORCH_AVAILABLE", False)  # seconds to import, for no tensor
        yield datasets


@pytest.fixture
def at_the_hub(datasets, tmp_path, monkeypatch):
    """Let paths of the hub stand for folders below the test's own."""
    monkeypatch.setattr(hub, "ADDRESS", str(tmp_path))
    folder = tmp_path / "owner" / "name" / "folder"
    folder.mkdir(parents=True)
    return folder


def as_json_lines(datasets, folder, records):
    write_jsonl(folder / "docs-0.jsonl", records)


def as_parquet(datasets, folder, records):
    datasets.Dataset.from_list(records).to_parquet(folder / "docs-0.parquet")


def as_arrow(datasets, folder, records):
    datasets.Dataset.from_list(records).save_to_disk(folder)


WRITERS = {"JSON lines": as_json_lines, "Parquet": as_parquet, "Arrow": as_arrow}
RECORDS = [
    {"id": "A", "title": "논의 메탄", "abstract": "벼", "authors": ["김", "이"], "year": 2020, "grade": 1.5},
    {"id": "B", "title": "Rice", "abstract": "b", "authors": ["Lee"], "year": 2021, "grade": 2.0},
    {"id": "C C", "title": "no id", "abstract": "c", "authors": [], "year": 2022, "grade": 3.0},
    {"id": "D", "title": "Last", "abstract": "d", "authors": ["Yi"], "year": 1, "grade": 4.0},
    {"id": "E", "title": "End", "abstract": "e", "authors": ["Yi"], "year": 2023, "grade": 5.0},
]


@pytest.mark.parametrize("path", ["hub:", "hub:a", "hub:a/b", "hub:a//c"])
def test_a_path_without_owner_name_and_folder_is_refused_before_anything_is_opened(path):
    with pytest.raises(UnknownPath, match="hub:OWNER/NAME/FOLDER"):
        read_corpus([path])


def test_without_the_library_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)

    with pytest.raises(LibraryMissing, match=r"`make install-hub` \(pip: the extra `hub`\)"):
        read_corpus(["hub:miracl/miracl-corpus/docs-ko"])


def test_tables_are_not_read_from_the_hub():
    with pytest.raises(UnknownFormat, match="not csv"):
        read_corpus(["hub:a/b/c"], format="csv")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_is_read_as_the_same_records_in_a_file_are(datasets, at_the_hub, tmp_path, kind):
    WRITERS[kind](datasets, at_the_hub, RECORDS)
    alike = items_of(read_corpus([write_jsonl(tmp_path / "alike.jsonl", RECORDS)]))

    first, second, third, fourth, fifth = items_of(read_corpus([FOLDER]))

    assert [item.record() for item in (first, second, fifth)] == [alike[at].record() for at in (0, 1, 4)]
    for found, same in ((third, alike[2]), (fourth, alike[3])):
        assert (found.file, found.line, found.reason) == (FOLDER, same.line, same.reason)


@pytest.mark.parametrize("kind", WRITERS)
def test_an_index_of_the_hub_answers_as_one_of_a_file(datasets, at_the_hub, tmp_path, kind):
    records = [paper(number) for number in range(30)]
    WRITERS[kind](datasets, at_the_hub, records)
    settings = IndexerSettings(home=tmp_path / "home", workers=1)

    report = build_index(IngestRequest("hub", [FOLDER]), settings)
    build_index(IngestRequest("file", [str(write_jsonl(tmp_path / "alike.jsonl", records))]), settings)

    assert (report.manifest.papers, report.manifest.counts.get("dead_letters", 0)) == (30, 0)
    assert answers(settings, "hub") == answers(settings, "file")


@pytest.mark.parametrize("kind", WRITERS)
def test_miracl_is_recognised_by_its_keys(datasets, at_the_hub, kind):
    WRITERS[kind](datasets, at_the_hub, [{"docid": "1#0", "title": "T", "text": "A"}])

    corpus = read_corpus([FOLDER])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("miracl", ["1#0"])


def test_no_address_is_asked_for_but_that_of_the_path(datasets, at_the_hub, monkeypatch):
    as_json_lines(datasets, at_the_hub, RECORDS)
    asked = []

    def look_up(host, *_, **__):
        asked.append(host)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    assert len(items_of(read_corpus([FOLDER]))) == len(RECORDS)
    assert asked == []


def test_rows_come_before_the_rest_of_the_file_is_read(datasets, at_the_hub):
    """A stream of which the end is damaged gives what came before it, and one dead letter."""
    whole = at_the_hub / "docs-0.parquet"
    many = [{"id": f"P{number}", "title": "x" * 50} for number in range(6_000)]
    datasets.Dataset.from_list(many).to_parquet(whole, batch_size=1_000)
    damaged = bytearray(whole.read_bytes())
    half = len(damaged) // 2
    damaged[half : half + 500] = bytes(500)
    whole.write_bytes(damaged)

    *papers, last = items_of(read_corpus([FOLDER]))

    assert papers[0].id == "P0"
    assert 1_000 <= len(papers) < 6_000
    assert last.line == len(papers) + 1


def test_several_files_are_read_in_the_order_of_their_names(datasets, at_the_hub):
    for split, number in (("train", 1), ("train", 0), ("test", 0)):
        record = {"id": f"{split}{number}", "title": "T"}
        datasets.Dataset.from_list([record]).to_parquet(at_the_hub / f"{split}-{number}.parquet")

    assert [item.id for item in items_of(read_corpus([FOLDER]))] == ["test0", "train0", "train1"]
    assert [item.id for item in items_of(read_corpus([f"{FOLDER}/train-*.parquet"]))] == ["train0", "train1"]
    assert [item.id for item in items_of(read_corpus([f"{FOLDER}/train-1.parquet"]))] == ["train1"]


def test_the_splits_of_an_arrow_folder_are_named_one_by_one(datasets, at_the_hub):
    splits = {name: datasets.Dataset.from_list([{"id": name, "title": "T"}]) for name in ("train", "test")}
    datasets.DatasetDict(splits).save_to_disk(at_the_hub)

    assert [item.id for item in items_of(read_corpus([f"{FOLDER}/test"]))] == ["test"]
    with pytest.raises(UnknownPath, match=r"no rows in \.jsonl, \.parquet, \.arrow files"):
        read_corpus([FOLDER])


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_of_other_names_are_dead_letters_that_say_what_is_missing(
    datasets, at_the_hub, tmp_path, kind
):
    WRITERS[kind](datasets, at_the_hub, [{"number": "A", "name": "T"}, {"number": "B", "name": "U"}])

    one, other = items_of(read_corpus([FOLDER]))

    assert (one.line, other.line) == (1, 2)
    assert one.reason == other.reason == "id: Field required"
    assert json.loads(one.head) == {"number": "A", "name": "T"}
    with pytest.raises(EmptyCorpus, match="id: Field required"):
        build_index(IngestRequest("papers", [FOLDER]), IndexerSettings(home=tmp_path / "home", workers=1))


def test_what_json_has_no_kind_for_is_text(datasets, at_the_hub):
    record = {
        "id": "A",
        "published": datetime(2020, 1, 31, 12, 30, tzinfo=UTC),
        "price": Decimal("12.50"),
        "nothing": None,
    }
    as_parquet(datasets, at_the_hub, [record])

    (found,) = items_of(read_corpus([FOLDER]))

    assert isinstance(found, Paper)
    assert {key: value for key, value in found.record().items() if key != "lang"} == {
        "id": "A",
        "published": "2020-01-31 12:30:00+00:00",
        "price": "12.50",
    }


def test_json_lines_keep_what_stands_in_them_and_a_bad_one_is_alone(datasets, at_the_hub):
    (at_the_hub / "docs-0.jsonl").write_bytes(
        b'\xef\xbb\xbf{"id": "A", "year": 2020, "date": "2020-01-01T00:00:00Z", "n": 1}\n'
        b"\n"
        b'{"id": "B", "n": "one"}\n'
        b'{"id": "C", "title": "\xff"}\n'
        b'{"id": "D", "n": NaN}\n'
        b'{"id": "E", "n": 1.5}'
    )

    first, second, third, fourth, fifth = items_of(
        hub.read_rows(FOLDER, str(at_the_hub), miracl.named_as_paper)
    )

    assert first.record() == {
        "id": "A",
        "year": 2020,
        "date": "2020-01-01T00:00:00Z",
        "n": 1,
        "lang": "other",
    }
    assert second.record() == {"id": "B", "n": "one", "lang": "other"}
    assert (third.line, fourth.line) == (4, 5)
    assert third.reason.startswith("not JSON")
    assert "NaN" in fourth.reason
    assert fifth.record()["n"] == 1.5


def test_a_packed_file_is_unpacked(datasets, at_the_hub):
    with gzip.open(at_the_hub / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"_id": "1", "title": "T", "text": "A", "metadata": {}}\n')

    corpus = read_corpus([f"{FOLDER}/corpus.jsonl.gz"])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("beir", ["1"])
