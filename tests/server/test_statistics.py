"""Statistics of searches: counts without callers, and questions without results."""

import json
from datetime import UTC, datetime

import pytest

from server.monitoring.search_statistics import SearchStatistics, may_be_stored, read_statistics
from server.settings import ServerSettings
from server.store import FILE, Store
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.running import add_key, application

RARE = "zymurgy of quokkas"


def counted(home, *searches, **settings):
    """Return the statistics after searches, each with index, question, hits and caller."""
    statistics = SearchStatistics(Store(home), ServerSettings(statistics=True, **settings))
    for search in searches:
        statistics.note(*search)
    statistics.take()()
    return read_statistics(Store(home), 1)


def test_searches_are_counted_by_day_index_and_words(tmp_path):
    counted(tmp_path, ("a", "one two", 3, "key x"), ("b", "three", 1, "key x"))
    found = counted(tmp_path, ("a", "four five", 1, "key y"), ("a", "w " * 50, 1, "key y"))

    assert found["days"] == [{"day": datetime.now(UTC).date().isoformat(), "searches": 4}]
    assert found["indexes"] == [{"index": "a", "searches": 3}, {"index": "b", "searches": 1}]
    assert found["words"] == [
        {"words": 1, "searches": 1},
        {"words": 2, "searches": 2},
        {"words": 20, "searches": 1},
    ]
    assert b"key x" not in (tmp_path / FILE).read_bytes()


def test_a_question_without_results_is_stored_when_three_callers_asked_it(tmp_path):
    first = ("a", RARE, 0, "key x")
    assert counted(tmp_path, first, first, first)["without_results"] == []
    assert counted(tmp_path, ("a", RARE.upper(), 0, "person y"))["without_results"] == []
    assert b"quokka" not in (tmp_path / FILE).read_bytes().lower()

    (stored,) = counted(tmp_path, ("a", RARE, 0, "address z"))["without_results"]

    assert (stored["question"], stored["index"], stored["searches"]) == (RARE, "a", 1)
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("question", "stored"),
    [
        ("논의 메탄 배출", True),
        ("CO2 in 2024", True),
        ("ada@example.org", False),
        ("call 010-1234-5678", False),
        ("900101 1234567", False),
        ("see https://example.org/ada", False),
        ("１２３４５", False),
        ("my neighbour " + "word " * 11, False),
        ("", False),
    ],
)
def test_a_question_with_signs_of_a_person_is_not_stored(question, stored):
    assert may_be_stored(question) is stored


def test_nothing_is_counted_unless_it_is_switched_on(home):
    for switched_on in (False, True):
        with application(home, statistics=switched_on) as client:
            assert client.post("/api/v1/search", json={"question": ENGLISH}).status_code == 200
        shown = json.loads(shrag("statistics", "--json", home=home).stdout)
        assert shown["indexes"] == [{"index": NAME, "searches": 1}] * switched_on


def test_a_librarian_of_one_index_sees_no_questions_of_another(home):
    headers = {"X-API-Key": add_key(home, role="librarian", indexes=(NAME,))}
    counted(home, (NAME, "two words", 1, "x"), ("b", RARE, 0, "x"), statistics_callers=1)

    with application(home, headers=headers) as client:
        seen = client.get("/api/v1/statistics").json()

    assert (seen["indexes"], seen["without_results"]) == ([{"index": NAME, "searches": 1}], [])
    assert [each["words"] for each in seen["words"]] == [2]
