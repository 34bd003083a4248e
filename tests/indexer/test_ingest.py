"""Building, updating and publishing, as a caller of `build_index` sees it."""

import json

import pytest

from base.errors import InvalidCall, Remedy
from indexer.errors import EmptyCorpus, IndexMismatch, StrictRefusal
from indexer.ingest import IngestRequest, build_index, remove_records
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import (
    answers,
    build,
    edit_manifest,
    forward_files,
    paper,
    stored_records,
    write_jsonl,
)
from tests.refusals import refusal

REFUSED = '{"title": "no id"}'


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(8)])


def ids(home, name="papers"):
    return [json.loads(record)["passage_id"] for record in stored_records(home, name)]


def test_records_of_every_length_are_stored_as_they_are(home, tmp_path):
    notes = "rice methane 논벼 메탄 Σ of the flooded field " * 2_000
    lengths = [0, 1, 100, *range(2_000, 4_400, 20), 50_000]
    records = [
        {"id": f"P{length}", "title": "Rice", "abstract": "Methane.", "notes": notes[:length]}
        for length in lengths
    ]

    build(home, write_jsonl(tmp_path / "corpus.jsonl", records))

    stored = map(json.loads, stored_records(home))
    assert {line["doc_id"]: line["paper"]["notes"] for line in stored} == {
        record["id"]: record["notes"] for record in records
    }


def test_a_build_counts_what_it_read(home, tmp_path):
    records = [
        {"id": "A", "title": "One", "abstract": "text"},
        {"id": "B", "title": "No abstract"},
        {"id": "C", "abstract": "x" * 1_000_001},
        {"id": "A", "title": "One again", "abstract": "text"},
        REFUSED,
    ]

    report = build(home, write_jsonl(tmp_path / "corpus.jsonl", records))

    assert report.manifest.counts == {
        "records": 3,
        "replaced": 0,
        "duplicates": 1,
        "incomplete": 1,
        "cut": 1,
        "dead_letters": 1,
    }
    assert [(one.line, one.reason) for one in report.dead_letters] == [(5, "id: Field required")]


def test_scores_are_those_of_the_corpus_without_the_replaced_records(home, tmp_path):
    last = [paper(number) for number in range(20)]
    twice = write_jsonl(tmp_path / "twice.jsonl", [paper(number, version=1) for number in range(20)] + last)
    once = write_jsonl(tmp_path / "once.jsonl", last)

    build(home, twice, name="twice")
    build(home, once, name="once")

    assert answers(home, "twice") == answers(home, "once")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_builds_are_equal_whatever_the_number_of_workers(home, tmp_path, workers):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(120)])

    build(home, corpus, name="one", workers=1)
    build(home, corpus, name="other", workers=workers, commit_every=30)

    assert stored_records(home, "other") == stored_records(home, "one")
    assert answers(home, "other") == answers(home, "one")
    assert forward_files(home, "other") == forward_files(home, "one")


def test_an_update_replaces_by_id_and_adds(home, corpus, tmp_path):
    build(home, corpus)
    update = write_jsonl(tmp_path / "update.jsonl", [paper(7, version=1), paper(8)])

    report = build(home, update)

    assert (report.manifest.version, report.manifest.papers) == (2, 9)
    assert report.manifest.counts["replaced"] == 1
    assert ids(home) == [
        *("P00000", "P00000@en", "P00001", "P00002", "P00003", "P00004", "P00005", "P00005@en", "P00006"),
        *("P00007", "P00008"),
    ]


def test_an_update_ranks_as_a_build_from_empty_of_the_same_records(home, tmp_path):
    first = [paper(number) for number in range(40)]
    changed = [paper(number, version=1) for number in range(30, 60)]
    build(home, write_jsonl(tmp_path / "first.jsonl", first), "updated")
    build(home, write_jsonl(tmp_path / "changed.jsonl", changed), "updated")
    build(home, write_jsonl(tmp_path / "all.jsonl", first[:30] + changed), "new")

    # By `or` an engine that has not merged yet counts replaced passages too.
    by_order = {"methods": ("shrag",)}
    assert answers(home, "updated", **by_order) == answers(home, "new", **by_order)


def test_an_update_that_only_adds_ranks_as_a_build_from_empty_by_any_method(home, tmp_path):
    papers = [paper(number) for number in range(60)]
    build(home, write_jsonl(tmp_path / "first.jsonl", papers[40:]), "updated")
    build(home, write_jsonl(tmp_path / "more.jsonl", papers[:40]), "updated")
    build(home, write_jsonl(tmp_path / "all.jsonl", papers), "new")

    assert answers(home, "updated") == answers(home, "new")


def test_an_update_with_the_same_corpus_changes_no_score(home, corpus):
    build(home, corpus)
    before = answers(home)

    report = build(home, corpus)

    assert (report.is_published, report.manifest.version) == (False, 1)
    assert answers(home) == before


def test_what_was_removed_before_is_added_again(home, corpus):
    build(home, corpus)
    remove_records("papers", ["P00003"], IndexerSettings(home=home))

    counts = build(home, corpus).manifest.counts

    assert (counts["records"], counts["unchanged"], counts["replaced"]) == (1, 7, 0)


def test_a_rebuild_starts_from_empty(home, corpus, tmp_path):
    build(home, corpus)

    build(home, write_jsonl(tmp_path / "other.jsonl", [paper(100)]), rebuild=True)

    assert ids(home) == ["P00100", "P00100@en"]


def test_an_empty_update_leaves_the_version_as_it_is(home, corpus, tmp_path):
    build(home, corpus)

    with pytest.raises(EmptyCorpus):
        build(home, write_jsonl(tmp_path / "empty.jsonl", []))

    assert (FolderStore(home, "papers").current(), len(ids(home))) == (1, 10)
    assert not FolderStore(home, "papers").local.building.exists()


def test_strict_publishes_nothing_at_the_first_refusal(home, tmp_path):
    records = [*(paper(number) for number in range(50)), REFUSED]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", records)

    with refusal(StrictRefusal, "corpus.jsonl, line 51", remedies=Remedy.ALLOW_DEAD_LETTERS):
        build(home, corpus, strict=True, commit_every=10)

    assert list(home.iterdir()) == []
    assert build(home, corpus).manifest.papers == 50


def test_the_file_of_dead_letters_steers_no_terminal(home, tmp_path):
    (tmp_path / "papers.jsonl").write_text(
        '{"id": "1", "title": "t"}\n{"id": "a b", "title": "\x9b2J\u202e\u2028"}\n'
    )
    build(home, tmp_path / "papers.jsonl")
    written = (home / "papers" / "dead-letters" / "000001.jsonl").read_text("utf-8")
    assert not set(written) & set("\x9b\u202e\u2028")
    assert json.loads(written)["line"] == 2


def test_dead_letters_lie_beside_the_version_and_ten_are_reported(home, tmp_path):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(1), *([REFUSED] * 25)])

    report = build(home, corpus)

    lines = (home / "papers" / "dead-letters" / "000001.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {
        "file": str(corpus),
        "line": 2,
        "reason": "id: Field required",
        "head": '{"title": "no id"}',
    }
    assert (len(lines), len(report.dead_letters), report.manifest.counts["dead_letters"]) == (25, 10, 25)


def test_another_analyzer_needs_a_rebuild(home, corpus):
    build(home, corpus)

    with refusal(InvalidCall, "bilingual", "korean", remedies=Remedy.REBUILD):
        build(home, corpus, analyzer="korean")

    assert build(home, corpus, analyzer="korean", rebuild=True).manifest.analyzer == "korean"


def test_papers_and_passages_do_not_mix(home, corpus, tmp_path):
    build(home, corpus)
    passages = write_jsonl(tmp_path / "miracl.jsonl", [{"docid": "1#0", "title": "t", "text": "text"}])

    with refusal(InvalidCall, "'paper'", "'passage'", remedies=(Remedy.RENAME, Remedy.REBUILD)):
        build(home, passages)


def test_a_version_of_another_analysis_is_refused(home, corpus):
    build(home, corpus)
    edit_manifest(FolderStore(home, "papers").version_path(1), fingerprint={"tantivy": "0.1"})

    with refusal(IndexMismatch, "tantivy: 0.1, now 0.27", remedies=(Remedy.UPGRADE, Remedy.REBUILD)):
        build(home, corpus)
    with pytest.raises(IndexMismatch):
        remove_records("papers", ["P00001"], IndexerSettings(home=home))


def test_removed_records_are_gone_with_all_of_their_passages(home, corpus):
    build(home, corpus)

    manifest, absent = remove_records("papers", ["P00000", "P00000", "X"], IndexerSettings(home=home))

    assert (manifest.version, manifest.papers, manifest.passages, absent) == (2, 7, 8, ["X"])
    assert manifest.counts == {"removed": 1}
    assert "P00000@en" not in ids(home)


def test_removing_what_is_not_there_publishes_nothing(home, corpus):
    build(home, corpus)
    remove_records("papers", ["P00000"], IndexerSettings(home=home))

    with refusal(InvalidCall, "papers", "P00000"):
        remove_records("papers", ["P00000"], IndexerSettings(home=home))

    assert FolderStore(home, "papers").versions() == [1, 2]


def test_the_last_record_can_be_removed_and_another_added(home, tmp_path):
    build(home, write_jsonl(tmp_path / "one.jsonl", [paper(1)]))

    manifest, _ = remove_records("papers", ["P00001"], IndexerSettings(home=home))
    report = build(home, write_jsonl(tmp_path / "other.jsonl", [paper(2)]))

    assert (manifest.papers, manifest.passages) == (0, 0)
    assert ids(home) == ["P00002"]
    assert report.manifest.papers == 1


def test_passages_of_an_article_count_as_one_paper(home, tmp_path):
    records = [
        {"docid": f"{place}#{number}", "title": "t", "text": "text"} for place in "ab" for number in range(3)
    ]

    manifest = build(home, write_jsonl(tmp_path / "miracl.jsonl", records)).manifest

    assert (manifest.unit, manifest.papers, manifest.passages) == ("passage", 2, 6)


def test_stored_passages_come_in_corpus_order_with_a_papers_chunks_in_theirs(home, tmp_path):
    body = " ".join(f"Sentence number {number} of the body is written here." for number in range(120))
    records = [{"id": "B", "title": "t", "abstract": "a", "title2": "제목", "body": body}, paper(1)]

    build(home, write_jsonl(tmp_path / "corpus.jsonl", records))

    assert ids(home)[:3] == ["B", "B@ko", "B#1"]
    assert ids(home)[2:-1] == [f"B#{number}" for number in range(1, len(ids(home)) - 2)]
    assert len(ids(home)) > 12


def test_a_file_that_vanishes_before_it_is_read_is_a_dead_letter_and_no_other_record_is_lost(home, tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", [paper(1), paper(2)])
    write_jsonl(folder / "b.jsonl", [paper(1), paper(3)])
    write_jsonl(folder / "c.jsonl", [paper(4)])

    def vanish(stage, done, total):
        (folder / "b.jsonl").unlink(missing_ok=True)

    request = IngestRequest(name="papers", paths=[str(folder)])
    report = build_index(request, IndexerSettings(home=home, workers=1), vanish)

    assert [passage_id for passage_id in ids(home) if "@" not in passage_id] == ["P00001", "P00002", "P00004"]
    (letter,) = report.dead_letters
    assert letter.file == str(folder / "b.jsonl")
