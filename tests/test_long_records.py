"""A record may hold a title or a name of any length: what commands print of it stays within bounds."""

import pytest

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import build, write_jsonl

LONG = 8_000
RECORDS = [
    {
        "id": "L1",
        "title": "methane " + "x" * LONG,
        "abstract": f"methane from rice {'y' * LONG} emissions. " + "z " * LONG,
        "authors": ["A" * LONG, "B"],
        "journal": "J" * LONG,
        "keywords": ["k" * LONG],
        "year": 2020,
        "references": ["L2"],
    },
    {
        "id": "L2",
        "title": "methane of rice " + "가나 " * LONG,
        "abstract": "rice paddies emit methane. " * 800,
        "reference_list": [{"title": "T" * LONG}, "R" * LONG],
    },
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("long")
    build(home, write_jsonl(home / "long.jsonl", RECORDS), name="long")
    return home


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "methane rice " * 400),
        ("ask", "does rice emit methane?"),
        ("find-papers", "methane of rice"),
        ("find-papers", "methane rice " * 400),
        ("citations", "L1", "L2"),
        ("explain", "methane rice", "L1"),
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_what_is_printed_of_a_long_record_is_bounded(home, arguments):
    done = shrag(*arguments, "--name", "long", home=home)
    assert done.returncode == 0
    assert len(done.stdout) < LONG / 2
    assert max(map(len, done.stdout.splitlines())) < 2_000
