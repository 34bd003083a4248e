"""Harvests into an index: the first one, changes, deletions, and what else happens to the index."""

import shutil
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest

from base.errors import InvalidCall, Remedy
from indexer.errors import EmptyCorpus, IndexBusy, IndexDamaged, RepositoryFailed, StrictRefusal, UnknownIndex
from indexer.harvest import harvested_indexes, harvested_repositories
from indexer.harvesting.mirror import harvest_lock
from indexer.ingest import remove_records
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.harvesting.harvests import (
    NAME,
    expected,
    filled,
    first_harvest,
    next_harvest,
    published,
    put,
    settings_of,
    version,
)
from tests.indexer.harvesting.repository import repository
from tests.indexer.made_corpora import build, paper, stored_records, write_jsonl
from tests.refusals import refusal


def test_a_first_harvest_indexes_all_records(tmp_path):
    served = filled(25)
    served.delete("oai:t:3")

    with repository(served) as path:
        report = first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)
    assert (report.listed.pages, report.listed.records, report.listed.from_) == (3, 25, "")
    assert served.verbs == {"Identify": 1, "ListRecords": 3}


def test_the_next_harvest_lists_and_indexes_the_changes(tmp_path):
    served = filled(25)
    settings = settings_of(tmp_path, overlap_hours=1)
    with repository(served) as path:
        first_harvest(tmp_path, path, settings=settings)
        served.pass_(days=30)
        put(served, 3, "again")
        put(served, 100)
        served.delete("oai:t:7")
        report = next_harvest(tmp_path, path, settings=settings)

    assert served.asked[-3] == {
        "verb": "ListRecords",
        "metadataPrefix": "oai_dc",
        "from": "2024-05-01T08:25:00Z",
    }
    counts = report.built.manifest.counts
    assert (counts["records"], counts["replaced"], counts["removed"]) == (2, 1, 1)
    assert published(tmp_path) == expected(served)


def test_a_harvest_without_changes_publishes_nothing(tmp_path):
    served = filled(25)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        report = next_harvest(tmp_path, path)

    assert report.listed.records == 25  # the overlap
    assert report.built is None
    assert version(tmp_path) == 1


def test_a_datestamp_alone_is_no_change(tmp_path):
    served = filled(25)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.pass_(days=1)
        put(served, 3)
        report = next_harvest(tmp_path, path)

    assert report.built is None


def test_a_record_that_becomes_visible_later_is_found_by_the_overlap(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        before, served.now = served.now, served.now - timedelta(hours=40)
        put(served, 5)  # with a datestamp before the last harvest
        served.now = before + timedelta(days=1)
        next_harvest(tmp_path, path)

    assert "oai:t:5" in published(tmp_path)


def test_days_are_listed_again_although_nothing_overlaps(tmp_path):
    served = filled(5, granularity="YYYY-MM-DD")
    settings = settings_of(tmp_path, overlap_hours=0)
    with repository(served) as path:
        first_harvest(tmp_path, path, settings=settings)
        put(served, 5)  # later on the same day
        next_harvest(tmp_path, path, settings=settings)

    assert served.asked[-1]["from"] == "2024-05-01"
    assert published(tmp_path) == expected(served)


def test_a_set_is_harvested_alone(tmp_path):
    served = filled(0)
    for number in range(25):
        put(served, number, sets=("rice" if number % 2 else "wheat",))

    with repository(served) as path:
        first_harvest(tmp_path, path, set_="rice")

    assert sorted(published(tmp_path)) == sorted(f"oai:t:{number}" for number in range(1, 25, 2))


@pytest.mark.parametrize(
    ("deletions", "is_complete"), [("no", True), ("transient", True), ("persistent", False)]
)
def test_deletions_are_found_whatever_the_repository_keeps_of_them(deletions, is_complete, tmp_path):
    served = filled(25, deletions=deletions)
    served.now = datetime.now(UTC) - timedelta(days=40)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.pass_(days=39)
        served.delete("oai:t:7")
        report = next_harvest(tmp_path, path, settings=settings_of(tmp_path, full_every_days=30))

    assert (report.listed.from_ == "") == is_complete
    assert report.built.manifest.counts["removed"] == 1
    assert published(tmp_path) == expected(served)


def test_a_complete_list_that_lacks_many_records_removes_none_unless_told(tmp_path):
    served = filled(25, deletions="no")
    with repository(served) as path:
        first_harvest(tmp_path, path)
        for number in range(10):
            served.delete(f"oai:t:{number}")
        kept = next_harvest(tmp_path, path, complete=True)
        assert len(published(tmp_path)) == 25
        next_harvest(tmp_path, path, complete=True, remove_missing=True)

    assert kept.built is None
    assert "10 of 25" in kept.listed.notes[0]
    assert published(tmp_path) == expected(served)


def test_an_empty_repository_after_a_disaster_empties_no_index(tmp_path):
    served = filled(25, deletions="no")
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.records.clear()
        next_harvest(tmp_path, path, complete=True)

    assert len(published(tmp_path)) == 25


def test_an_index_may_lose_all_records_by_deletions(tmp_path):
    served = filled(3)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        for number in range(3):
            served.delete(f"oai:t:{number}")
        next_harvest(tmp_path, path)
        assert published(tmp_path) == {}
        put(served, 1)
        next_harvest(tmp_path, path)

    assert sorted(published(tmp_path)) == ["oai:t:1"]


def test_an_empty_repository_is_refused_and_leaves_nothing(tmp_path):
    with repository(filled(0)) as path, refusal(EmptyCorpus, path):
        first_harvest(tmp_path, path)

    assert list(tmp_path.iterdir()) == []


def test_a_repository_without_an_answer_leaves_other_harvests_alone(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        with pytest.raises(RepositoryFailed):
            first_harvest(tmp_path, "oai:http://127.0.0.1:9/oai")

    assert [each.path for each in harvested_repositories(IndexerSettings(home=tmp_path), NAME)] == [path]
    assert published(tmp_path) == expected(served)


def test_a_deleted_record_can_return(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.delete("oai:t:1")
        next_harvest(tmp_path, path)
        put(served, 1)
        next_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_a_rollback_is_followed_by_all_later_changes(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.pass_(days=10)
        put(served, 1, "again")
        served.delete("oai:t:2")
        next_harvest(tmp_path, path)
        FolderStore(tmp_path, NAME).rollback()
        assert "oai:t:2" in published(tmp_path)
        served.pass_(days=10)
        next_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_other_versions_in_between_keep_the_state_of_the_harvest(tmp_path):
    served = filled(5)
    settings = IndexerSettings(home=tmp_path, workers=1)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        build(tmp_path, write_jsonl(tmp_path / "own.jsonl", [paper(1)]), NAME)
        remove_records(NAME, ["oai:t:4"], settings)
        report = next_harvest(tmp_path, path)

    assert report.built is None
    assert sorted(published(tmp_path)) == ["P00001", *(f"oai:t:{number}" for number in range(4))]


def test_a_rebuild_from_files_is_followed_by_all_records(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        build(tmp_path, write_jsonl(tmp_path / "own.jsonl", [paper(1)]), NAME, rebuild=True)
        next_harvest(tmp_path, path)

    assert len(published(tmp_path)) == 6


def test_a_rebuild_requests_only_changes(tmp_path):
    served = filled(25)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        before = stored_records(tmp_path, NAME)
        served.pass_(days=10)
        asked = len(served.asked)
        first_harvest(tmp_path, path, rebuild=True)

    assert len(served.asked) - asked == 2 + 2
    assert stored_records(tmp_path, NAME) == before
    assert version(tmp_path) == 2


def test_two_repositories_share_an_index(tmp_path):
    one, other = filled(5), filled(0)
    other.put("oai:other:1", ("title", "Wheat"), ("description", "Yields of wheat"))
    with repository(one) as first, repository(other) as second:
        first_harvest(tmp_path, first)
        first_harvest(tmp_path, second)
        one.delete("oai:t:1")
        next_harvest(tmp_path, first)
        assert next_harvest(tmp_path, second).built is None

    assert published(tmp_path) == expected(one) | expected(other)
    assert len(harvested_repositories(IndexerSettings(home=tmp_path), NAME)) == 2


def test_a_record_deleted_in_one_set_remains_while_another_set_has_it(tmp_path):
    served = filled(0)
    put(served, 1, sets=("a", "b"))
    put(served, 2, sets=("a",))
    with repository(served) as path:
        first_harvest(tmp_path, path, set_="a")
        first_harvest(tmp_path, path, set_="b")
        put(served, 1, sets=("b",))
        del served.records["oai:t:2"]
        next_harvest(tmp_path, path, set_="a", complete=True, remove_missing=True)

    assert sorted(published(tmp_path)) == ["oai:t:1"]


def test_another_metadata_format_lists_everything_again(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        report = first_harvest(tmp_path, path, prefix="other")

    assert (report.listed.from_, report.listed.records) == ("", 5)
    assert served.asked[-1]["metadataPrefix"] == "other"


def test_a_lost_mirror_is_made_again_and_indexed_again(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        shutil.rmtree(tmp_path / NAME / "harvest")
        put(served, 1, "again")
        served.delete("oai:t:2")
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_a_damaged_mirror_is_named(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        (mirror,) = (tmp_path / NAME / "harvest").glob("*.sqlite")
        mirror.write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
        with refusal(IndexDamaged, str(mirror)):
            first_harvest(tmp_path, path)


def test_two_harvests_of_an_index_at_once_are_refused(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        with harvest_lock(tmp_path / NAME / "harvest", NAME), pytest.raises(IndexBusy):
            next_harvest(tmp_path, path)


def test_an_index_of_passages_is_refused_before_anything_is_listed(tmp_path):
    served = filled(5)
    corpus = write_jsonl(tmp_path / "miracl.jsonl", [{"docid": "1#0", "title": "a", "text": "b"}])
    build(tmp_path, corpus, NAME)
    with repository(served) as path, pytest.raises(InvalidCall):
        first_harvest(tmp_path, path)

    assert served.asked == []


def test_a_strict_harvest_refuses_a_record_without_a_title(tmp_path):
    served = filled(5)
    served.put("oai:t:empty", ("creator", "Kim"))
    with repository(served) as path:
        with refusal(StrictRefusal, "oai:t:empty", remedies=Remedy.ALLOW_DEAD_LETTERS):
            first_harvest(tmp_path, path, strict=True)
        report = first_harvest(tmp_path, path)

    assert [letter.file for letter in report.built.dead_letters] == ["oai:t:empty"]
    assert len(published(tmp_path)) == 5


def test_an_update_of_invalid_records_alone_publishes_nothing_and_says_so(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.put("oai:t:empty", ("creator", "Kim"))
        report = next_harvest(tmp_path, path)

    assert report.built is None
    assert "oai:t:empty" in report.listed.notes[0]


def test_a_deletion_of_a_record_that_the_index_lacks_publishes_nothing(tmp_path):
    served = filled(5)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        remove_records(NAME, ["oai:t:1"], IndexerSettings(home=tmp_path))
        served.delete("oai:t:1")
        report = next_harvest(tmp_path, path)

    assert (report.built, report.listed.notes) == (None, [])


def test_identifiers_are_composed_for_deletions_too(tmp_path):
    served = filled(1)
    decomposed = unicodedata.normalize("NFD", "oai:논문:1")
    served.put(decomposed, ("title", "A"), ("description", "B"))
    with repository(served) as path:
        first_harvest(tmp_path, path)
        assert "oai:논문:1" in published(tmp_path)
        served.delete(decomposed)
        next_harvest(tmp_path, path)

    assert sorted(published(tmp_path)) == ["oai:t:0"]


def test_an_index_with_harvested_records_can_be_deleted(tmp_path):
    served = filled(25)
    served.expired.add("10|||oai_dc")
    settings = IndexerSettings(home=tmp_path)
    with repository(served) as path:
        with pytest.raises(Exception, match="badResumptionToken"):
            first_harvest(tmp_path, path)
        assert harvested_indexes(settings) == [NAME]
        FolderStore(tmp_path, NAME).delete()
        with pytest.raises(UnknownIndex):
            FolderStore(tmp_path, NAME).delete()
        served.expired.clear()
        first_harvest(tmp_path, path)
        FolderStore(tmp_path, NAME).delete()

    assert not (tmp_path / NAME).exists()


def test_an_index_that_harvests_nothing_is_refused(tmp_path):
    build(tmp_path, write_jsonl(tmp_path / "own.jsonl", [paper(1)]), NAME)

    with refusal(InvalidCall, "harvests no repository"):
        harvested_repositories(IndexerSettings(home=tmp_path), NAME)


def test_a_first_harvest_that_was_interrupted_is_completed_by_its_own_command(tmp_path):
    served = filled(25)
    served.expired.add("10|||oai_dc")
    with repository(served) as path, pytest.raises(Exception, match="badResumptionToken"):
        first_harvest(tmp_path, path)

    with refusal(InvalidCall, "not published"):
        harvested_repositories(IndexerSettings(home=tmp_path), NAME)


def test_an_interrupted_first_build_is_resumed(tmp_path):
    served, stages = filled(35), []
    settings = settings_of(tmp_path, commit_every=10)

    def interrupt(stage, done, total):
        stages.append(stage)
        if stages.count("committing") == 2:
            raise KeyboardInterrupt

    with repository(served) as path:
        with pytest.raises(KeyboardInterrupt):
            first_harvest(tmp_path, path, settings=settings, progress=interrupt)
        stages.clear()
        first_harvest(tmp_path, path, settings=settings, progress=lambda stage, *_: stages.append(stage))

    assert "reading" in stages  # records of the first call, which are not analysed again
    assert published(tmp_path) == expected(served)
