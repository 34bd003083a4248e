"""`shrag index oai:…` and `shrag harvest`, as they are called."""

import json

import pytest

from tests.hostile import call
from tests.indexer.harvesting.repository import (
    NAME,
    bad_token,
    expected,
    filled,
    published,
    put,
    repository,
    web_page,
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name, value in {
        "HOME": tmp_path,
        "WORKERS": 1,
        "HARVEST__DELAY_S": 0,
        "HARVEST__RETRIES": 1,
        "HARVEST__LONGEST_PAUSE_S": 0.01,
    }.items():
        monkeypatch.setenv(f"SHRAG_{name}", str(value))
    return tmp_path


def test_a_repository_is_named_once_and_harvested_again_without_its_name(home):
    served = filled(25)
    with repository(served) as path:
        first = call("index", path, "--name", NAME)
        served.delete("oai:t:1")
        put(served, 2, "again")
        second = call("harvest", NAME)
        third = call("harvest")

    assert (first.code, second.code, third.code) == (0, 0, 0)
    assert f"{path}: 3 pages, 25 records of the complete list" in first.out
    assert "index 'repository', version 1: 25 passages of 25 papers, 25 records read" in first.out
    assert "1 record removed" in second.out
    assert "nothing was published" in third.out
    assert published(home) == expected(served)


def test_a_harvest_as_json(home):
    served = filled(25, faults={3: bad_token})
    with repository(served) as path:
        first = json.loads(call("index", path, "--name", NAME, "--json").out)
        (second,) = json.loads(call("harvest", NAME, "--json").out)["harvests"]

    assert first["papers"] == 25
    assert first["harvest"] == {
        "repository": {"url": path.removeprefix("oai:"), "set": "", "metadata_prefix": "oai_dc"},
        "from": None,
        "pages": 4,
        "records": 35,
        "restarts": 1,
        "missing_removed": 0,
        "notes": [],
        "requests": 6,
        "retries": 0,
        "published": True,
    }
    assert (second["name"], second["harvest"]["published"]) == (NAME, False)
    assert second["harvest"]["from"] == "2024-04-29"


def test_one_repository_that_fails_does_not_stop_the_others(home):
    broken, intact = filled(5), filled(5)
    with repository(broken) as first, repository(intact) as second:
        call("index", first, "--name", "a")
        call("index", second, "--name", "b")
        put(intact, 6)
        broken.faults = dict.fromkeys(range(1, 100), web_page)
        ended = call("harvest")

    assert ended.code == 1
    assert "RepositoryFailed" in ended.err
    assert first in ended.err
    assert "oai:t:6" in published(home, "b")


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "oai:http://127.0.0.1:9/oai", "papers.jsonl", "--name", NAME),
        ("index", "oai:http://127.0.0.1:9/oai", "--name", NAME, "--format", "csv"),
        ("index", "papers.jsonl", "--name", NAME, "--set", "a"),
        ("index", "papers.jsonl", "--name", NAME, "--metadata-prefix", "marcxml"),
        ("index", "papers.jsonl", "--name", NAME, "--partial"),
        ("index", "oai:ftp://127.0.0.1/oai", "--name", NAME),
        ("index", "oai:http://127.0.0.1:9/oai", "--name", "../x"),
        ("harvest", NAME),
        ("harvest",),
        ("harvest", NAME, "--remove-missing"),
    ],
)
def test_a_call_that_fits_no_repository_is_refused(home, arguments):
    assert call(*arguments).code == 2
    assert list(home.iterdir()) == []
