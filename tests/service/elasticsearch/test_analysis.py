"""The server analyses as the official one that was recorded, nori of the plugin included.

By day it is asked for every fourth text.
"""

import gzip
import json
from contextlib import contextmanager
from itertools import islice
from uuid import uuid4

import pytest
from elasticsearch import Elasticsearch

from tests.conftest import BY_NIGHT
from tests.service.elasticsearch.index_settings import analysis

RECORDED = {
    f"{analyzer}-{mode}": (analyzer, mode)
    for analyzer in ("bilingual", "korean")
    for mode in ("discard", "mixed", "none")
} | {"english": ("english", "discard")}


@pytest.fixture(scope="module")
def client(elasticsearch):
    with Elasticsearch(elasticsearch.url, basic_auth=elasticsearch.basic_auth, request_timeout=240) as client:
        yield client


@contextmanager
def new_index(client, its_analysis):
    name = f"analysis-{uuid4().hex}"
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "analysis": its_analysis}
    client.indices.create(index=name, settings=settings)
    try:
        yield name
    finally:
        client.indices.delete(index=name)


def analyze(client, index, analyzer, text):
    """Return [token, position, start, end] with offsets in code points, as recorded."""
    units = text.encode("utf-16-le")

    def code_points(utf16_units):
        return len(units[: 2 * utf16_units].decode("utf-16-le"))

    return [
        [
            one["token"],
            one["position"],
            code_points(one["start_offset"]),
            code_points(one["end_offset"]),
        ]
        for one in client.indices.analyze(index=index, analyzer=analyzer, text=text)["tokens"]
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_tokens_positions_and_offsets_are_the_recorded_ones(client, shared_golden, name):
    analyzer, mode = RECORDED[name]
    with gzip.open(shared_golden / f"analysis-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        recorded = [json.loads(line) for line in islice(file, 0, None, 1 if BY_NIGHT else 4)]

    with new_index(client, analysis(mode)) as index:
        differing = [
            one["source"]
            for one in recorded
            if analyze(client, index, analyzer, one["text"]) != one["tokens"]
        ]

    assert recorded
    assert differing == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("none", [["가곡역", 0, 0, 3]]),
        ("discard", [["가곡", 0, 0, 2], ["역", 1, 2, 3]]),
        ("mixed", [["가곡역", 0, 0, 3], ["가곡", 0, 0, 2], ["역", 1, 2, 3]]),
    ],
)
def test_compounds_are_cut_as_the_mode_says(client, mode, expected):
    with new_index(client, analysis(mode)) as index:
        assert analyze(client, index, "korean", "가곡역") == expected
