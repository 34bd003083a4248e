"""The server analyses as the official one that was recorded, nori of the plugin included."""

import gzip
import json
from contextlib import contextmanager
from uuid import uuid4

import pytest
from elasticsearch import BadRequestError, Elasticsearch

from tests.service.elasticsearch.index_settings import analysis

RECORDED = {
    f"{analyzer}-{mode}": (analyzer, mode)
    for analyzer in ("bilingual", "korean")
    for mode in ("discard", "mixed", "none")
} | {"english": ("english", "discard")}


@pytest.fixture(scope="module")
def client(elasticsearch):
    with Elasticsearch(elasticsearch.url, basic_auth=elasticsearch.basic_auth) as client:
        yield client


@pytest.fixture(scope="module")
def index(client):
    with new_index(client, analysis()) as name:
        yield name


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


def terms(client, index, analyzer, text):
    return [token for token, *_ in analyze(client, index, analyzer, text)]


@pytest.mark.parametrize("name", RECORDED)
def test_tokens_positions_and_offsets_are_the_recorded_ones(client, shared_golden, name):
    analyzer, mode = RECORDED[name]
    with gzip.open(shared_golden / f"analysis-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        recorded = [json.loads(line) for line in file]

    with new_index(client, analysis(mode)) as index:
        differing = [
            one["source"]
            for one in recorded
            if analyze(client, index, analyzer, one["text"]) != one["tokens"]
        ]

    assert recorded
    assert differing == []


def test_every_recorded_file_is_compared(shared_golden):
    found = {path.name for path in shared_golden.glob("analysis-*.jsonl.gz")}

    assert found == {f"analysis-{name}.jsonl.gz" for name in RECORDED}


def test_korean_loses_particles_and_endings_and_keeps_gaps_in_positions(client, index):
    assert analyze(client, index, "korean", "논에 물을 대었다") == [
        ["논", 0, 0, 1],
        ["물", 2, 3, 4],
        ["대", 4, 6, 7],
    ]


def test_hanja_is_read_as_hangul(client, index):
    assert terms(client, index, "korean", "大韓民國") == ["대한", "민국"]


def test_the_prefix_of_negation_stays(client, index):
    assert terms(client, index, "korean", "비선형") == ["비", "선형"]


def test_bilingual_stems_english_words_within_korean(client, index):
    assert terms(client, index, "bilingual", "The Technologies를 사용") == ["technolog", "사용"]
    assert terms(client, index, "korean", "The Technologies를 사용") == ["the", "technologies", "사용"]


def test_english_drops_possessives_and_stop_words(client, index):
    assert terms(client, index, "english", "The teacher's possible feedbacks") == [
        "teacher",
        "possibl",
        "feedback",
    ]


def test_offsets_behind_an_emoji_count_code_points(client, index):
    assert analyze(client, index, "english", "🌾 rice") == [["🌾", 0, 0, 1], ["rice", 1, 2, 6]]


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


def test_a_rule_of_the_user_cuts_a_compound_as_told(client, index):
    with new_index(client, analysis(rules=["딥러닝모델 딥러닝 모델"])) as ruled:
        assert terms(client, ruled, "korean", "딥러닝모델") == ["딥러닝", "모델"]
    assert terms(client, index, "korean", "딥러닝모델") != ["딥러닝", "모델"]


def test_two_rules_for_one_word_are_refused(client):
    with pytest.raises(BadRequestError, match="duplicate"), new_index(client, analysis(rules=["c++", "c++"])):
        pass


def test_a_group_of_tags_is_refused(client):
    grouped = analysis()
    grouped["filter"]["stop_tags"]["stoptags"] = ["E", "J"]

    with pytest.raises(BadRequestError, match="No enum constant"), new_index(client, grouped):
        pass


def test_an_unknown_mode_is_refused(client):
    with pytest.raises(BadRequestError, match="DISCARDED"), new_index(client, analysis("discarded")):
        pass
