"""Building, updating and publishing, as a caller of `build_index` sees it; ids that two papers claim."""

import json
import unicodedata

import pytest

from base.errors import InvalidCall, Remedy
from indexer.errors import IndexMismatch, StrictRefusal
from indexer.ingest import remove_records
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
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(8)])


def ids(home, name="papers"):
    return [json.loads(record)["passage_id"] for record in stored_records(home, name)]


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


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_builds_are_equal_whatever_the_number_of_workers(home, tmp_path, workers):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(120)])

    build(home, corpus, name="one", workers=1)
    build(home, corpus, name="other", workers=workers)

    assert stored_records(home, "other") == stored_records(home, "one")
    assert answers(home, "other") == answers(home, "one")
    assert forward_files(home, "other") == forward_files(home, "one")


def test_an_update_that_only_adds_ranks_as_a_build_from_empty_by_any_method(home, tmp_path):
    papers = [paper(number) for number in range(60)]
    build(home, write_jsonl(tmp_path / "first.jsonl", papers[40:]), "updated")
    build(home, write_jsonl(tmp_path / "more.jsonl", papers[:40]), "updated")
    build(home, write_jsonl(tmp_path / "all.jsonl", papers), "new")

    assert answers(home, "updated") == answers(home, "new")


def test_strict_publishes_nothing_at_the_first_refusal(home, tmp_path):
    records = [*(paper(number) for number in range(50)), REFUSED]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", records)

    with refusal(StrictRefusal, "corpus.jsonl, line 51", remedies=Remedy.ALLOW_DEAD_LETTERS):
        build(home, corpus, strict=True)

    assert list(home.iterdir()) == []
    assert build(home, corpus).manifest.papers == 50


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


PLAIN = {"id": "X", "title": "논", "abstract": "논의 메탄을 재었다."}
TWO_LANGUAGES = PLAIN | {"abstract2": "Methane of paddies was measured."}
WITH_BODY = PLAIN | {"body": "논에 물을 대었다."}
CALLED_AS_ENGLISH = {"id": "X@en", "title": "Ammonia", "abstract": "ammonia of fields"}
CALLED_AS_CHUNK = {"id": "X#1", "title": "Ammonia", "abstract": "ammonia of fields"}
PAIRS = [(TWO_LANGUAGES, CALLED_AS_ENGLISH), (WITH_BODY, CALLED_AS_CHUNK)]
EITHER_ORDER = [*PAIRS, *((second, first) for first, second in PAIRS)]


@pytest.fixture
def held(tmp_path):
    """Index corpora one after another; return passage and paper of all that is held, and the dead letters."""

    def run(*corpora, **options):
        for records in corpora:
            report = build(tmp_path / "home", write_jsonl(tmp_path / "c.jsonl", records), **options)
        passages = [json.loads(record) for record in stored_records(tmp_path / "home")]
        return [(passage["passage_id"], passage["doc_id"]) for passage in passages], report.dead_letters

    return run


@pytest.mark.parametrize(("first", "second"), EITHER_ORDER)
@pytest.mark.parametrize("runs", [1, 2])
def test_of_two_papers_that_claim_a_passage_id_the_second_is_a_dead_letter(held, first, second, runs):
    corpora = [[first, second]] if runs == 1 else [[first], [second]]

    passages, letters = held(*corpora) if runs == 1 else held(corpora[0], [*corpora[1], {"id": "OTHER"}])

    assert {doc_id for _, doc_id in passages} - {"OTHER"} == {first["id"]}
    assert len({passage_id for passage_id, _ in passages}) == len(passages)
    (letter,) = letters
    assert (letter.line, json.loads(letter.head)["id"]) == (3 - runs, second["id"])
    assert "of another paper's" in letter.reason


def test_an_update_that_would_take_another_papers_id_leaves_both_as_they_were(held):
    before, letters = held([PLAIN, CALLED_AS_ENGLISH])
    assert (before, letters) == ([("X", "X"), ("X@en", "X@en")], [])

    after, (letter,) = held([TWO_LANGUAGES, {"id": "OTHER"}])

    assert after == [*before, ("OTHER", "OTHER")]
    assert letter.line == 1


def test_what_a_later_record_replaces_claims_nothing(held):
    passages, letters = held([TWO_LANGUAGES, CALLED_AS_ENGLISH, PLAIN])

    assert sorted(passages) == [("X", "X"), ("X@en", "X@en")]
    assert letters == []


def test_removing_or_replacing_a_paper_leaves_one_that_is_called_as_a_passage_of_it(held, tmp_path):
    held([PLAIN, CALLED_AS_ENGLISH])
    assert held([PLAIN | {"title": "논밭"}])[0] == [("X@en", "X@en"), ("X", "X")]

    remove_records("papers", ["X"], IndexerSettings(home=tmp_path / "home"))

    assert [json.loads(record)["passage_id"] for record in stored_records(tmp_path / "home")] == ["X@en"]


def test_ids_that_differ_by_normalisation_alone_are_one(held, tmp_path):
    composed, decomposed = "논문", unicodedata.normalize("NFD", "논문")
    passages, _ = held([PLAIN | {"id": decomposed}, {"id": "X"}, PLAIN | {"id": composed}])

    assert passages == [("X", "X"), (composed, composed)]

    _, absent = remove_records("papers", [decomposed], IndexerSettings(home=tmp_path / "home"))

    assert absent == []
