"""Faults of a repository: each ends in the index that an undisturbed harvest makes, or in a clear error."""

import pytest

from indexer.errors import RepositoryFailed, UnknownFormat
from tests.indexer.harvesting.harvests import (
    Pauses,
    expected,
    filled,
    first_harvest,
    next_harvest,
    published,
    put,
    settings_of,
    version,
)
from tests.indexer.harvesting.repository import FAULTS, bad_token, cut_xml, repository, reset, unavailable
from tests.needs import mostly_slow
from tests.refusals import refusal


@pytest.mark.parametrize("at", mostly_slow([1, 2, 3, 5], quick={3}))
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_request_loses_nothing(fault, at, tmp_path):
    served = filled(35, faults={at: FAULTS[fault]})

    with repository(served) as path:
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_an_expired_token_restarts_the_list_without_duplicates(tmp_path):
    served = filled(35, faults={4: bad_token})

    with repository(served) as path:
        report = first_harvest(tmp_path, path)

    assert [request.get("resumptionToken", "")[:2] for request in served.asked[1:]] == [
        *("", "10", "20"),
        *("", "10", "20", "30"),
    ]
    assert report.listed.restarts == 1
    assert report.built.manifest.counts["records"] == 35
    assert report.built.manifest.counts["duplicates"] == 0


def test_tokens_that_always_fail_end_with_an_error_that_keeps_the_records(tmp_path):
    served = filled(35)
    served.expired.add("20|||oai_dc")

    with repository(served) as path:
        with refusal(RepositoryFailed, "badResumptionToken", "20 harvested records"):
            first_harvest(tmp_path, path)
        served.expired.clear()
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_an_error_of_the_server_for_a_token_restarts_the_list(tmp_path):
    served = filled(25)
    tries = []

    def fails_for_the_token(handler):
        tries.append(handler.served.asked[-1].get("resumptionToken"))
        return len(tries) <= 4 and FAULTS["500"](handler)

    served.faults = dict.fromkeys(range(3, 7), fails_for_the_token)
    with repository(served) as path:
        report = first_harvest(tmp_path, path)

    assert tries == ["10|||oai_dc"] * 4
    assert report.listed.restarts == 1
    assert published(tmp_path) == expected(served)


def test_a_repository_that_is_down_keeps_the_token_for_the_next_call(tmp_path):
    served = filled(35)
    served.faults = dict.fromkeys(range(4, 8), reset)

    with repository(served) as path:
        with refusal(RepositoryFailed, "20 harvested records"):
            first_harvest(tmp_path, path)
        assert version(tmp_path) is None
        asked = len(served.asked)
        first_harvest(tmp_path, path)

    assert [request.get("resumptionToken", "")[:2] for request in served.asked[asked:]] == ["", "20", "30"]
    assert published(tmp_path) == expected(served)


def test_a_page_that_is_never_valid_ends_with_an_error_that_keeps_the_others(tmp_path):
    served = filled(35)
    served.faults = dict.fromkeys(range(3, 7), cut_xml)

    with repository(served) as path:
        with refusal(RepositoryFailed, "XML", "10 harvested records"):
            first_harvest(tmp_path, path)
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_partial_indexes_what_was_harvested_before_the_failure(tmp_path):
    served = filled(35)
    served.faults = dict.fromkeys(range(3, 7), cut_xml)

    with repository(served) as path:
        report = first_harvest(tmp_path, path, partial=True)
        assert len(published(tmp_path)) == 10
        next_harvest(tmp_path, path)

    assert isinstance(report.failure, RepositoryFailed)
    assert published(tmp_path) == expected(served)


def test_a_requested_pause_is_kept(tmp_path):
    served, pauses = filled(15, faults={2: unavailable("120")}), Pauses()

    with repository(served) as path:
        first_harvest(tmp_path, path, pause=pauses)

    assert pauses.seconds[120] == 1
    assert published(tmp_path) == expected(served)


def test_a_pause_beyond_the_limit_ends_the_call(tmp_path):
    served = filled(15, faults={3: unavailable("7200")})

    with repository(served) as path:
        with refusal(RepositoryFailed, "7,200 s", "10 harvested records"):
            first_harvest(tmp_path, path)
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_a_record_that_an_offset_skips_is_found_by_another_pass(tmp_path):
    served = filled(35)

    def changed_meanwhile(number):
        if number == 3:  # all later records move up by one place
            served.pass_(hours=1)
            put(served, 4, "again")

    served.before_answer = changed_meanwhile
    with repository(served) as path:
        first_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)


def test_a_repository_that_announces_too_many_records_is_listed_twice_only_once(tmp_path):
    served = filled(15, exaggeration=7)

    with repository(served) as path:
        first = first_harvest(tmp_path, path)
        second = next_harvest(tmp_path, path, complete=True)

    assert (first.listed.pages, second.listed.pages) == (4, 2)
    assert len(first.listed.notes) == 1
    assert published(tmp_path) == expected(served)


def test_a_list_that_repeats_its_last_token_ends(tmp_path):
    served = filled(15)

    def last_page_again(handler):
        content = handler.served.answer(handler.served.asked[-1])
        handler.send(content.replace("</resumptionToken>", "10|||oai_dc</resumptionToken>"))
        return True

    served.faults = {3: last_page_again, 4: last_page_again}
    with repository(served) as path:
        first_harvest(tmp_path, path)

    assert len(served.asked) == 4
    assert published(tmp_path) == expected(served)


def test_a_list_without_an_end_is_an_error(tmp_path):
    served = filled(10)

    def endless(handler):
        number = handler.number
        content = handler.served.answer({"verb": "ListRecords", "metadataPrefix": "oai_dc"})
        handler.send(content.replace("</resumptionToken>", f"{number}|||oai_dc</resumptionToken>"))
        return True

    served.faults = dict.fromkeys(range(2, 1_000), endless)
    with repository(served) as path, refusal(RepositoryFailed, "no end", "10 harvested records"):
        first_harvest(tmp_path, path)

    assert len(served.asked) == 103


def test_a_list_of_ever_new_records_ends_at_the_limit(tmp_path):
    served = filled(1, announces_size=False)
    numbers = iter(range(1, 1_000))

    def endless(handler):
        handler.served.pass_(seconds=1)
        put(handler.served, next(numbers))
        listing = handler.served.listing("", "")[-1:]
        records = "".join(map(handler.served.record, listing))
        token = f"<resumptionToken>{handler.number}|||x</resumptionToken>"
        handler.send(handler.served.document(f"<ListRecords>{records}{token}</ListRecords>"))
        return True

    served.faults = dict.fromkeys(range(2, 1_000), endless)
    with repository(served) as path, refusal(RepositoryFailed, "more than 20 records"):
        first_harvest(tmp_path, path, settings=settings_of(tmp_path, most_records=20))

    assert len(served.asked) == 22


def test_seconds_that_a_repository_refuses_become_days(tmp_path):
    served = filled(5)

    def refused(handler):
        handler.send(handler.served.error("badArgument", "from"))
        return True

    with repository(served) as path:
        first_harvest(tmp_path, path)
        served.pass_(days=5)
        put(served, 5)
        asked = len(served.asked)
        served.faults = {asked + 2: refused}
        next_harvest(tmp_path, path)

    assert [request.get("from") for request in served.asked[asked + 1 :]] == [
        "2024-04-29T09:05:00Z",
        "2024-04-29",
    ]
    assert published(tmp_path) == expected(served)


def test_a_metadata_format_that_a_repository_lacks_is_named_with_those_that_it_has(tmp_path):
    with repository(filled(5)) as path, refusal(UnknownFormat, "'marcxml'", "oai_dc"):
        first_harvest(tmp_path, path, prefix="marcxml")


def test_a_metadata_format_without_a_reader_is_refused_at_the_first_page(tmp_path):
    served = filled(0)
    for number in range(30):
        served.put(f"oai:t:{number}", metadata='<mods xmlns="http://www.loc.gov/mods/v3"/>')

    with repository(served) as path, refusal(UnknownFormat, "'other'", "mods"):
        first_harvest(tmp_path, path, prefix="other")

    assert len(served.asked) == 2


def test_a_huge_record_is_a_dead_letter_and_the_rest_is_indexed(tmp_path):
    served = filled(5)
    served.put("oai:t:huge", ("title", "x" * 50_000))

    with repository(served) as path:
        report = first_harvest(tmp_path, path, settings=settings_of(tmp_path, record_bytes=10_000))

    (letter,) = report.built.dead_letters
    assert (letter.file, "10,000 bytes" in letter.reason) == ("oai:t:huge", True)
    assert len(published(tmp_path)) == 5
