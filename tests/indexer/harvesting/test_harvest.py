"""Harvests into an index: the first one, changes, deletions, faults, and what else happens to the index."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from base.errors import InvalidCall, Remedy
from indexer.errors import (
    EmptyCorpus,
    IndexBusy,
    IndexDamaged,
    RepositoryFailed,
    StrictRefusal,
)
from indexer.harvest import harvested_indexes, harvested_repositories
from indexer.harvesting.listing import earlier_date, start_of_list
from indexer.harvesting.mirror import harvest_lock
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.harvesting.repository import (
    NAME,
    bad_token,
    cut_xml,
    dublin_core,
    expected,
    filled,
    first_harvest,
    next_harvest,
    published,
    put,
    repository,
    reset,
    server_error,
    settings_of,
    truncated,
    unavailable,
    version,
    web_page,
)
from tests.indexer.made_corpora import build, write_jsonl
from tests.refusals import refusal


@pytest.mark.parametrize(
    ("listed_at", "earliest", "overlap_hours", "start"),
    [
        ("2024-05-03T09:00:00Z", "2000-01-01", 48, "2024-05-01"),
        ("2024-05-03T09:00:00.5+00:00", "2000-01-01", 0, "2024-05-03"),
        ("2024-05-03T09:00:00Z", "2024-05-02T00:00:00Z", 48, "2024-05-02"),
        ("2024-05-03T09:00:00Z", "unknown", 10, "2024-05-02"),
        ("", "2000-01-01", 48, ""),
        ("2024-13-01", "2000-01-01", 48, ""),
        ("0001-01-01", "0001-01-01", 48, ""),
    ],
)
def test_an_incremental_list_starts_before_the_previous_one(listed_at, earliest, overlap_hours, start):
    assert start_of_list(listed_at, earliest, overlap_hours) == start


@pytest.mark.parametrize("ahead", ["2099-01-01T00:00:00Z", ""])
def test_a_clock_that_is_ahead_does_not_move_the_next_list(ahead):
    now = datetime(2024, 5, 1, 9, tzinfo=UTC)

    assert earlier_date(ahead, now) == "2024-05-01T09:00:00Z"
    assert earlier_date("2024-05-01T08:00:00Z", now) == "2024-05-01T08:00:00Z"


# What changes in a repository before a harvest, and what breaks: the fault and the number of its request.
CHANGES = st.lists(st.tuples(st.sampled_from(["put", "delete"]), st.integers(0, 25)), max_size=8)
FAULTS = st.none() | st.tuples(
    st.sampled_from([reset, truncated, cut_xml, web_page, bad_token, unavailable()]), st.integers(1, 4)
)
STEPS = st.lists(st.tuples(CHANGES, FAULTS, st.booleans()), min_size=1, max_size=3)


@hypothesis_settings(max_examples=5)
@given(st.integers(3, 10), FAULTS, STEPS)
def test_an_index_holds_what_its_repository_holds_whatever_changes_and_breaks(page_size, fault, steps):
    served = filled(20, page_size=page_size)
    with TemporaryDirectory() as folder, repository(served) as path:
        served.faults = {fault[1]: fault[0]} if fault else {}
        first_harvest(Path(folder), path)
        assert published(Path(folder)) == expected(served)
        for number, (changes, later_fault, rolls_back) in enumerate(steps):
            served.pass_(days=1)
            for change, paper_number in changes:
                if change == "put":
                    put(served, paper_number, f"again {number}")
                elif f"oai:t:{paper_number}" in served.records:
                    served.delete(f"oai:t:{paper_number}")
            served.faults = {len(served.asked) + later_fault[1]: later_fault[0]} if later_fault else {}
            next_harvest(Path(folder), path)
            if rolls_back and len(FolderStore(Path(folder), NAME).versions()) > 1:
                FolderStore(Path(folder), NAME).rollback()
                next_harvest(Path(folder), path)
            assert published(Path(folder)) == expected(served)


def test_changes_are_counted_and_without_any_nothing_is_published(tmp_path):
    served, settings = filled(25), settings_of(tmp_path, overlap_hours=1)
    with repository(served) as path:
        first = first_harvest(tmp_path, path, settings=settings)
        assert served.verbs == {"Identify": 1, "ListRecords": 3}
        served.pass_(days=30)
        put(served, 4, "again")
        put(served, 5)  # only its datestamp changes
        put(served, 100)
        served.delete("oai:t:7")
        second = next_harvest(tmp_path, path, settings=settings)
        third = next_harvest(tmp_path, path, settings=settings)

    assert (first.listed.pages, first.listed.records, first.listed.from_) == (3, 25, "")
    counts = second.built.manifest.counts
    assert (counts["records"], counts["replaced"], counts["removed"]) == (2, 1, 1)
    assert second.listed.from_ == served.asked[5]["from"] == "2024-05-01"
    assert (third.listed.records, third.built, version(tmp_path)) == (4, None, 2)


@pytest.mark.parametrize(
    ("deletions", "is_complete"), [("no", True), ("transient", True), ("persistent", False)]
)
def test_deletions_are_found_by_records_or_by_a_complete_list(deletions, is_complete, tmp_path):
    served = filled(25, deletions=deletions)
    served.now = datetime.now(UTC) - timedelta(days=40)
    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.pass_(days=39)
        served.delete("oai:t:7")
        report = next_harvest(tmp_path, path, settings=settings_of(tmp_path, full_every_days=30))

    assert (report.listed.from_ == "") == is_complete
    assert published(tmp_path) == expected(served)


def test_many_missing_records_are_removed_only_on_request(tmp_path):
    served = filled(25, deletions="no")
    with repository(served) as path:
        first_harvest(tmp_path, path)
        for number in range(10):
            served.delete(f"oai:t:{number}")
        kept = next_harvest(tmp_path, path, complete=True)
        assert len(published(tmp_path)) == 25
        next_harvest(tmp_path, path, complete=True, remove_missing=True)

    assert (kept.built, "10 of 25" in kept.listed.notes[0]) == (None, True)
    assert published(tmp_path) == expected(served)


def test_an_empty_or_missing_repository_leaves_nothing(tmp_path):
    with repository(filled(0)) as path, refusal(EmptyCorpus, path):
        first_harvest(tmp_path, path)
    assert list(tmp_path.iterdir()) == []
    with repository(filled(5)) as path:
        first_harvest(tmp_path, path)
        with pytest.raises(RepositoryFailed):
            first_harvest(tmp_path, "oai:http://127.0.0.1:9/oai")

    assert [each.path for each in harvested_repositories(IndexerSettings(home=tmp_path), NAME)] == [path]


def test_sets_share_an_index_and_their_records(tmp_path):
    served = filled(0)
    put(served, 1, sets=("a", "b"))
    put(served, 2, sets=("a",))
    put(served, 3, sets=("c",))
    with repository(served) as path:
        first_harvest(tmp_path, path, set_="a")
        first_harvest(tmp_path, path, set_="b")
        assert sorted(published(tmp_path)) == ["oai:t:1", "oai:t:2"]
        put(served, 1, sets=("b",))
        del served.records["oai:t:2"]
        next_harvest(tmp_path, path, set_="a", complete=True, remove_missing=True)

    assert sorted(published(tmp_path)) == ["oai:t:1"]


def test_a_damaged_or_locked_mirror_and_an_index_of_passages_are_refused(tmp_path):
    passages = write_jsonl(tmp_path / "m.jsonl", [{"docid": "1#0", "title": "a", "text": "b"}])
    build(tmp_path / "passages", passages, NAME)
    served = filled(5)
    with repository(served) as path:
        with pytest.raises(InvalidCall):
            first_harvest(tmp_path / "passages", path)
        assert served.asked == []
        first_harvest(tmp_path, path)
        (mirror,) = (tmp_path / NAME / "harvest").glob("*.sqlite")
        with harvest_lock(mirror.parent, NAME), pytest.raises(IndexBusy):
            next_harvest(tmp_path, path)
        mirror.write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
        with refusal(IndexDamaged, str(mirror)):
            first_harvest(tmp_path, path)


def test_invalid_records_are_dead_letters(tmp_path):
    served, settings = filled(5), settings_of(tmp_path, record_bytes=10_000)
    served.put("oai:t:empty", dublin_core(creator="Kim"))
    served.put("oai:t:huge", dublin_core(title="x" * 50_000))
    with repository(served) as path:
        with refusal(StrictRefusal, "oai:t:", remedies=Remedy.ALLOW_DEAD_LETTERS):
            first_harvest(tmp_path, path, strict=True, settings=settings)
        report = first_harvest(tmp_path, path, settings=settings)
        served.put("oai:t:later", dublin_core(creator="Kim"))
        later = next_harvest(tmp_path, path, settings=settings)

    letters = {letter.file: letter.reason for letter in report.built.dead_letters}
    assert letters.keys() == {"oai:t:empty", "oai:t:huge"}
    assert "10,000 bytes" in letters["oai:t:huge"]
    assert published(tmp_path).keys() == {f"oai:t:{number}" for number in range(5)}
    assert (later.built, "oai:t:later" in later.listed.notes[0]) == (None, True)


def test_an_interrupted_harvest_or_build_is_resumed_or_deleted(tmp_path):
    served, stages = filled(35), []
    settings, own = settings_of(tmp_path), IndexerSettings(home=tmp_path)
    served.expired.add("10|||oai_dc")

    def interrupt(stage, done, total):
        stages.append(stage)
        if stage == "merging":
            raise KeyboardInterrupt

    with repository(served) as path:
        with refusal(RepositoryFailed, "badResumptionToken", "10 harvested records"):
            first_harvest(tmp_path, path)
        assert harvested_indexes(own) == [NAME]
        with refusal(InvalidCall, "not published"):
            harvested_repositories(own, NAME)
        FolderStore(tmp_path, NAME).delete()
        served.expired.clear()
        with pytest.raises(KeyboardInterrupt):
            first_harvest(tmp_path, path, settings=settings, progress=interrupt)
        stages.clear()
        first_harvest(tmp_path, path, settings=settings, progress=lambda stage, *_: stages.append(stage))

    assert "reading" not in stages  # the records of the first call are in the build
    assert published(tmp_path) == expected(served)


def tokens(requests):
    return [request.get("resumptionToken", "")[:2] for request in requests]


@pytest.mark.parametrize(("fault", "failures"), [(bad_token, 1), (server_error, 4)])
def test_a_refused_token_restarts_the_list_without_duplicates(fault, failures, tmp_path):
    served = filled(35, faults=dict.fromkeys(range(4, 4 + failures), fault))
    with repository(served) as path:
        report = first_harvest(tmp_path, path)

    asked = [request for request in served.asked if request["verb"] == "ListRecords"]
    assert tokens(asked) == ["", "10", *["20"] * failures, "", "10", "20", "30"]
    counts = report.built.manifest.counts
    assert (report.listed.restarts, counts["records"], counts["duplicates"]) == (1, 35, 0)


@pytest.mark.parametrize(
    ("fault", "failures", "reason"),
    [(reset, 4, "no complete answer"), (cut_xml, 4, "XML"), (unavailable("7200"), 1, "7,200 s")],
)
def test_a_failing_repository_keeps_records_and_token_for_the_next_call(fault, failures, reason, tmp_path):
    served = filled(35, faults=dict.fromkeys(range(4, 4 + failures), fault))
    with repository(served) as path:
        with refusal(RepositoryFailed, reason, "20 harvested records"):
            first_harvest(tmp_path, path)
        assert version(tmp_path) is None
        asked = len(served.asked)
        first_harvest(tmp_path, path)

    assert tokens(served.asked[asked:]) == ["", "20", "30"]
    assert published(tmp_path) == expected(served)


def with_token(token, arguments=None):
    """Return a fault that adds a token to a last page, by default the requested one."""

    def answer(handler):
        content = handler.served.answer(arguments) if arguments else handler.own_answer()
        return handler.send(content.replace("</resumptionToken>", f"{token}</resumptionToken>"))

    return answer


def test_a_list_that_repeats_its_last_token_ends_and_one_without_an_end_is_an_error(tmp_path):
    served = filled(15, faults={number: with_token("10|||oai_dc") for number in (3, 4)})
    with repository(served) as path:
        first_harvest(tmp_path, path)
    assert (len(served.asked), published(tmp_path)) == (4, expected(served))

    first = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
    served = filled(10, faults={each: with_token(f"{each}|||oai_dc", first) for each in range(2, 1_000)})
    with repository(served) as path, refusal(RepositoryFailed, "no end", "10 harvested records"):
        first_harvest(tmp_path / "endless", path)
    assert len(served.asked) == 103

    with repository(filled(25)) as path, refusal(RepositoryFailed, "more than 12 records"):
        first_harvest(tmp_path / "other", path, settings=settings_of(tmp_path / "other", most_records=12))
