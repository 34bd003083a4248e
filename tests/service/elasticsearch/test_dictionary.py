"""A user's dictionary on a real server: the recorded tokens, and an index that is built with it."""

import asyncio
from uuid import uuid4

import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.ingest import IngestRequest, build_index
from indexer.versions.cluster.loading import first_difference
from indexer.versions.cluster.mapping import index_body
from indexer.versions.fingerprint import fixed_texts
from retriever.index import open_index
from tests.indexer.made_corpora import write_jsonl
from tests.service.elasticsearch.own_prefix import own_prefix
from tests.service.elasticsearch.record_dictionary import (
    analyzed,
    golden_dictionary,
    golden_sentences,
    index_with,
)

PAPERS = [
    {"id": "A", "title": "한밭과학기술정보원의 활동", "abstract": "연구데이터플랫폼을 운영한다."},
    {"id": "B", "title": "벼의 생육", "abstract": "논에 물을 대었다."},
]


@pytest.fixture(scope="module")
def client(elasticsearch):
    with Elasticsearch(elasticsearch.url, basic_auth=elasticsearch.basic_auth, request_timeout=240) as client:
        yield client


@pytest.fixture
def settings_for(elasticsearch):
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_tokens_are_the_recorded_ones(client, mode):
    with index_with(client, mode, golden_dictionary()) as index:
        differing = [
            one["text"] for one in golden_sentences() if analyzed(client, index, one["text"]) != one[mode]
        ]

    assert differing == []


# Nested, overlapping and touching terms, punctuation, and words that end as sentences do.
HARD = """
세종시\n시청\n세종시청\n시장조사\n정보시 정보 시\n다.\n였다\n있다.\nAB\nBCD\n++x\n시\n과학 과 학\nㄱㄴ\n²
"""
HARD_TEXTS = (
    "세종시청과 세종시장조사를 시청하였다. 정보시장조사가 있다. 정보시청",
    "ABCD XABCD ABCDE AB++x 12² km²이다. ㄱㄴㄷ을 ㄱㄴ에",
    "그는 과학과 학문을 시작하였다. 이듬해 시에서 시험을 보았다. (시) 시, 시.",
    "세종시  시청 , 시 다. 다.다. 였다였다 있다. 있었다",
)


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_hard_terms_are_read_alike_on_both_engines(client, mode):
    dictionary = parse_user_dictionary(HARD.encode(), "hard")
    here = make_analyzer("bilingual", mode, dictionary)

    with index_with(client, mode, dictionary) as index:
        for text in HARD_TEXTS:
            assert list(map(list, here.analyze(text))) == analyzed(client, index, text)


def test_the_first_text_that_the_cluster_reads_otherwise_is_named(elasticsearch, client):
    dictionary, longer = (
        parse_user_dictionary(terms.encode(), "terms") for terms in ("질의응답", "질의응답\n모르는물건")
    )
    index = f"reading-{uuid4().hex}"
    client.indices.create(
        index=index, **index_body("bilingual", "discard", shards=1, meta={}, dictionary=dictionary)
    )

    async def differing(decompound, dictionary):
        async with AsyncElasticsearch(elasticsearch.url, basic_auth=elasticsearch.basic_auth) as cluster:
            return await first_difference(cluster, index, "bilingual", decompound, dictionary)

    assert asyncio.run(differing("discard", dictionary)) is None
    assert asyncio.run(differing("discard", longer)) == "모르는물건"
    assert asyncio.run(differing("none", dictionary)) == fixed_texts()[0]
    client.indices.delete(index=index)


def test_an_index_is_built_updated_and_opened_with_the_dictionary(settings_for, tmp_path):
    settings = settings_for(tmp_path / "home")
    corpus = write_jsonl(tmp_path / "corpus.jsonl", PAPERS)
    request = IngestRequest(name="papers", paths=[str(corpus)], dictionary=golden_dictionary())

    build_index(request, settings)
    more = write_jsonl(tmp_path / "more.jsonl", [PAPERS[0] | {"id": "more"}])
    build_index(IngestRequest(name="papers", paths=[str(more)]), settings)

    # Another machine has nothing but the address.
    with open_index(settings_for(tmp_path / "other"), "papers") as index:
        assert index.manifest.version == 2
        assert index.manifest.dictionary == golden_dictionary().hash
        assert [token[0] for token in index.analyzer.analyze("한밭과학기술정보원")] == [
            *("한밭", "과학기술", "정보원")
        ]
