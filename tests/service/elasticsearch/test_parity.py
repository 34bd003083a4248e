"""A cluster ranks real collections as the embedded engine does, and scores as what was recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from eval.experiments.engines import benches, run_experiment
from eval.experiments.golden import RECORDED as SCORES
from eval.experiments.golden import (
    SAMPLE_COLLECTION,
    drift_table,
    find_drift,
    ranking_row,
    read_rows,
    rows_about,
)
from eval.experiments.ranking import COLLECTIONS, Collection, questions, records
from eval.runs import read_run
from indexer.requests import no_progress
from tests.service.elasticsearch.index_settings import analysis
from tests.service.elasticsearch.own_prefix import own_prefix

BY_NAME = {collection.name: collection for collection in COLLECTIONS}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_cluster_ranks_a_shared_collection_as_recorded(elasticsearch, shared_data, tmp_path, name):
    assert_ranked_as_recorded(elasticsearch, shared_data, tmp_path, BY_NAME[name])


def test_a_cluster_ranks_the_sample_as_recorded(elasticsearch, tmp_path):
    assert_ranked_as_recorded(elasticsearch, tmp_path, tmp_path, SAMPLE_COLLECTION)


def assert_ranked_as_recorded(elasticsearch, data, tmp_path, collection):
    """The scores are the recorded ones, and the first tens those of the embedded engine."""
    with own_prefix(elasticsearch) as settings_for:
        settings = settings_for(tmp_path)
        engines = benches(tmp_path, data, no_progress, settings, settings.elasticsearch.prefix)
        ranked = run_experiment(engines, data, [collection], settings=["alone"])

    rows = [
        ranking_row(beside.collection, "elasticsearch", beside.method, beside.elasticsearch)
        for beside in ranked
    ]
    recorded = rows_about(
        read_rows(SCORES), table="ranking", collection=collection.name, engine="elasticsearch"
    )
    drift = find_drift(recorded, rows)
    assert not drift, "\n" + drift_table(drift)
    assert min(beside.overlap for beside in ranked) >= 0.98


RECORDED = [
    ("tydi-ko", "bilingual", "discard"),
    ("tydi-ko", "korean", "discard"),
    ("tydi-ko", "korean", "mixed"),
    ("scifact", "bilingual", "discard"),
    ("scifact", "english", "discard"),
    ("tydi-en", "bilingual", "discard"),
    ("tydi-en", "english", "discard"),
]


@pytest.mark.parametrize(("name", "analyzer", "decompound"), RECORDED)
def test_the_server_scores_as_the_one_that_was_recorded(
    elasticsearch, shared_data, shared_golden, name, analyzer, decompound
):
    """The recordings' index: one field of title and text, asked with the question itself."""
    collection = BY_NAME[name]
    label = analyzer if analyzer == "english" else f"{analyzer}-{decompound}"
    split = "test" if name == "scifact" else "dev"
    recorded = read_run(shared_golden / f"runs/{name}-{split}.{label}.trec.gz")
    topics, _ = questions(shared_data, collection, "dev")

    with (
        connected(elasticsearch) as client,
        recorded_index(client, shared_data, [collection], analyzer, decompound, prefixed=False) as index,
    ):
        run = {
            query_id: searched(client, index, match("text", question))
            for query_id, question in topics.items()
        }

    assert differences(run, recorded) == {}


@pytest.mark.parametrize("name", list(BY_NAME))
def test_the_server_scores_all_collections_in_one_index_as_recorded(
    elasticsearch, shared_data, shared_golden, all_in_one, name
):
    """The recordings' other index: ids prefixed, and the title asked once more with .3 of the weight."""
    split = "test" if name == "scifact" else "dev"
    recorded = read_run(shared_golden / f"runs/combined.{name}-{split}.bilingual-discard-title0.3.trec.gz")
    topics, _ = questions(shared_data, BY_NAME[name], "dev")

    with connected(elasticsearch) as client:
        run = {
            query_id: searched(
                client,
                all_in_one,
                {"bool": {"should": [match("text", question), match("title", question, boost=0.3)]}},
            )
            for query_id, question in topics.items()
        }

    assert differences(run, recorded) == {}


@pytest.fixture(scope="module")
def all_in_one(elasticsearch, shared_data):
    with (
        connected(elasticsearch) as client,
        recorded_index(client, shared_data, COLLECTIONS, "bilingual", "discard", prefixed=True) as index,
    ):
        yield index


@contextmanager
def connected(elasticsearch) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch.url, basic_auth=elasticsearch.basic_auth, request_timeout=120) as client:
        yield client


@contextmanager
def recorded_index(
    client: Elasticsearch, data: Path, collections, analyzer: str, decompound: str, *, prefixed: bool
) -> Iterator[str]:
    """Make an index of the shape that was recorded: one shard, one segment, BM25 with k1 1.2 and b .75."""
    index = f"recorded-{analyzer}-{decompound}-{collections[0].name}-{len(collections)}"
    client.options(ignore_status=404).indices.delete(index=index)
    text = {"type": "text", "analyzer": analyzer}
    client.indices.create(
        index=index,
        settings={
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "analysis": analysis(decompound),
            "similarity": {"default": {"type": "BM25", "k1": 1.2, "b": 0.75}},
        },
        mappings={"properties": {"text": text, "title": text, "id": {"type": "keyword"}}},
    )
    try:
        bulk(client, documents(index, data, collections, prefixed=prefixed), chunk_size=1_000)
        client.indices.forcemerge(index=index, max_num_segments=1)
        client.indices.refresh(index=index)
        yield index
    finally:
        client.indices.delete(index=index)


def documents(index: str, data: Path, collections: list[Collection], *, prefixed: bool):
    for collection in collections:
        for record in records(data / collection.corpus):
            name = str(record.get("docid", record.get("id")))
            title, text = record.get("title", ""), record.get("text", record.get("abstract", ""))
            source = {
                "id": collection.prefix + name if prefixed else name,
                "title": title,
                "text": f"{title} {text}",
            }
            yield {"_index": index, "_source": source}


def match(field: str, question: str, boost: float = 1.0):
    asked = {"query": question, "auto_generate_synonyms_phrase_query": False, "boost": boost}
    return {"match": {field: asked}}


def searched(client: Elasticsearch, index: str, query) -> dict[str, float]:
    """Return the first 150 by id: those beyond 100 may tie with the last that was recorded."""
    answer = client.search(
        index=index, query=query, size=150, sort=[{"_score": "desc"}, {"id": "asc"}], source=False,
        docvalue_fields=[{"field": "id"}],
    )  # fmt: skip
    return {hit["fields"]["id"][0]: float(hit["sort"][0]) for hit in answer["hits"]["hits"]}


def differences(run: dict[str, dict[str, float]], recorded) -> dict[str, object]:
    """Return the questions with a recorded hit that has not its score here, or with one that is left out."""
    found: dict[str, object] = {}
    for query_id in run.keys() | set(recorded):
        hits, ours = recorded.get(query_id, []), run.get(query_id, {})
        here = [(one, score, ours.get(one)) for one, score in hits]
        otherwise = [one for one in here if one[2] is None or abs(one[2] - one[1]) > 0.002]
        # What ties with the last of a hundred may stand behind it.
        least = hits[-1][1] + 0.002 if len(hits) == 100 else 0.0
        left_out = {one for one, score in ours.items() if score > least} - {one for one, _ in hits}
        if otherwise or left_out:
            found[query_id] = otherwise, left_out
    return found
