"""Pauses before a request is sent again."""

from datetime import UTC, datetime
from itertools import islice

from base.net.backoff import growing_pauses, retry_after_s

NOON = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


def test_retry_after_is_read_as_seconds_or_as_a_date():
    assert retry_after_s("7", NOON) == 7
    assert retry_after_s("Wed, 01 May 2024 12:00:09 GMT", NOON) == 9
    assert retry_after_s("Wed, 01 May 2024 11:00:00 GMT", NOON) == 0
    assert retry_after_s("Wed, 01 May 2024 12:00:09 -0000", NOON) == 9
    no_year, no_zone = (
        "Wed, 01 May 99999999999999999999 12:00:09 GMT",
        "Wed, 01 May 2024 12:00:09 +99999999999999999999",
    )
    for nonsense in ("", "soon", "-5", "nan", "inf", "1e9", no_year, no_zone):
        assert retry_after_s(nonsense, NOON) is None


def test_pauses_double_up_to_the_longest():
    assert list(islice(growing_pauses(0.5, 3.0), 5)) == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert next(growing_pauses(60.0, 30.0)) == 30.0
