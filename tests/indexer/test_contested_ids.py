"""No two papers share a passage id: a paper X gives the passages X@en and X#1, another may be called so."""

import json
import unicodedata

import pytest

from indexer.ingest import remove_records
from indexer.settings import IndexerSettings
from tests.indexer.made_corpora import build, stored_records, write_jsonl

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


def test_a_refused_paper_refuses_no_other(held):
    own = CALLED_AS_ENGLISH | {"abstract2": "밭의 암모니아", "lang": "en"}

    passages, letters = held([TWO_LANGUAGES, own, {"id": "X@en@ko", "abstract": "free"}])

    assert ("X@en@ko", "X@en@ko") in passages
    assert [letter.line for letter in letters] == [2]


def test_removing_or_replacing_a_paper_leaves_one_that_is_called_as_a_passage_of_it(held, tmp_path):
    held([PLAIN, CALLED_AS_ENGLISH])
    assert held([PLAIN | {"title": "논밭"}])[0] == [("X@en", "X@en"), ("X", "X")]

    remove_records("papers", ["X"], IndexerSettings(home=tmp_path / "home"))

    assert [json.loads(record)["passage_id"] for record in stored_records(tmp_path / "home")] == ["X@en"]


def test_passages_of_a_corpus_of_passages_may_be_called_so(held):
    records = [{"docid": name, "text": "methane"} for name in ("X", "X#1", "X@en")]

    passages, letters = held(records, records)

    assert [passage_id for passage_id, _ in passages] == ["X", "X#1", "X@en"]
    assert letters == []


def test_ids_that_differ_by_normalisation_alone_are_one(held, tmp_path):
    composed, decomposed = "논문", unicodedata.normalize("NFD", "논문")
    passages, _ = held([PLAIN | {"id": decomposed}, {"id": "X"}, PLAIN | {"id": composed}])

    assert passages == [("X", "X"), (composed, composed)]

    _, absent = remove_records("papers", [decomposed], IndexerSettings(home=tmp_path / "home"))

    assert absent == []
