"""Addresses of repositories and their requests, and datestamps."""

from datetime import UTC, datetime

import pytest

from base.errors import UnknownPath
from indexer.harvesting.datestamps import earlier_date, parse_datestamp, start_of_list
from indexer.harvesting.repository import Repository


def test_the_first_request_names_format_set_and_start():
    repository = Repository.of("oai:https://r.example.ac.kr/oai", set_="col_1", metadata_prefix="oai_dc")

    assert repository.request(repository.list_arguments(from_="2024-05-01T09:00:00Z")) == (
        "https://r.example.ac.kr/oai?verb=ListRecords&metadataPrefix=oai_dc&set=col_1&from=2024-05-01T09%3A00%3A00Z"
    )


def test_a_token_is_the_only_argument_of_its_request():
    repository = Repository.of("oai:https://r.example.ac.kr/oai", set_="col_1")

    assert repository.request(repository.list_arguments(token="a b/c&d=+", from_="2024-05-01")) == (
        "https://r.example.ac.kr/oai?verb=ListRecords&resumptionToken=a%20b%2Fc%26d%3D%2B"
    )


def test_an_address_may_have_a_query_of_its_own():
    assert Repository.of("oai:http://r.org/oai?db=1").request({"verb": "Identify"}) == (
        "http://r.org/oai?db=1&verb=Identify"
    )


@pytest.mark.parametrize(
    "path",
    [
        "oai:",
        "oai:repository.example.ac.kr/oai",
        "oai:file:///etc/passwd",
        "oai:ftp://r.org/oai",
        "oai:https://",
        "oai:https://user:secret@r.org/oai",
        "oai:https://r.org/oai?verb=Identify",
        "oai:https://r.org/oai#top",
        "oai:https://r.org/o ai",
        "oai:https://r.org:0/oai",
        "oai:https://r.org:99999/oai",
        "oai:https://[::1/oai",
    ],
)
def test_an_address_that_is_no_repositorys_is_refused(path):
    with pytest.raises(UnknownPath) as raised:
        Repository.of(path)

    assert "secret" not in str(raised.value)


def test_another_set_is_another_mirror_and_another_format_is_not():
    paths = [
        Repository.of("oai:https://r.org/oai"),
        Repository.of("oai:https://r.org/oai", metadata_prefix="marc"),
        Repository.of("oai:https://r.org/oai", set_="a"),
        Repository.of("oai:https://r.org/oai2"),
    ]

    assert len({each.slug for each in paths}) == 3


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T09:08:07Z", datetime(2024, 5, 1, 9, 8, 7, tzinfo=UTC)),
        ("2024-05-01T09:08:07.123Z", datetime(2024, 5, 1, 9, 8, 7, tzinfo=UTC)),
        ("2024-05-01T09:08:07+00:00", datetime(2024, 5, 1, 9, 8, 7, tzinfo=UTC)),
        ("2024-13-01", None),
        ("2024-05-01T09:08:07+09:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_datestamps_are_days_or_seconds_of_utc(text, date):
    assert parse_datestamp(text) == date


@pytest.mark.parametrize(
    ("listed_at", "earliest", "granularity", "overlap_hours", "start"),
    [
        ("2024-05-03T09:00:00Z", "2000-01-01", "second", 48, "2024-05-01T09:00:00Z"),
        ("2024-05-03T09:00:00Z", "2000-01-01", "day", 48, "2024-05-01"),
        ("2024-05-03T09:00:00Z", "2000-01-01", "day", 0, "2024-05-03"),
        ("2024-05-03T09:00:00Z", "2024-05-02T00:00:00Z", "second", 48, "2024-05-02T00:00:00Z"),
        ("2024-05-03T09:00:00Z", "unknown", "second", 1, "2024-05-03T08:00:00Z"),
        ("", "2000-01-01", "second", 48, ""),
        ("0001-01-01", "0001-01-01", "second", 48, ""),
        ("0999-01-01", "", "day", 0, "0999-01-01"),
    ],
)
def test_an_incremental_list_starts_before_the_previous_one(
    listed_at, earliest, granularity, overlap_hours, start
):
    assert start_of_list(listed_at, earliest, granularity, overlap_hours=overlap_hours) == start


@pytest.mark.parametrize(
    ("given", "date"),
    [
        ("2024-05-01T08:00:00Z", "2024-05-01T08:00:00Z"),
        ("2099-01-01T00:00:00Z", "2024-05-01T09:00:00Z"),
        ("", "2024-05-01T09:00:00Z"),
    ],
)
def test_a_clock_that_is_ahead_does_not_move_the_next_list(given, date):
    assert earlier_date(given, datetime(2024, 5, 1, 9, tzinfo=UTC)) == date
