"""What is analysed here is found there: by both engines alike, and by other tools that ask the cluster."""

import asyncio

import pytest

from indexer.analysis import DECOMPOUND_MODES
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.cluster.mapping import alias_of
from retriever.index import open_index
from retriever.search import SearchRequest, rank
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import write_jsonl
from tests.service.elasticsearch.own_prefix import client_of

PAPERS = [
    {
        "id": "A",
        "title": "가곡역의 역사",
        "abstract": "웨이\u3000웨이 공기업경영평가와 비선형 모형을 km² 논의한다.",
    },
    {
        "id": "B",
        "title": "Rice fields",
        "abstract": "The methane that the fields emitted, 논에서 배출된 메탄.",
    },
    {"id": "C", "title": "", "abstract": "공기업의 경영 평가. " + "가나다라" * 200 + "x" * 1024},
]
QUESTIONS = [
    "가곡역",
    '"공기업 경영"',
    '"공기업경영평가"',
    '"emitted 논에서 배출"',
    "methane field",
    '"' + "x" * 1024 + '"',
]


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_both_engines_find_the_same(settings_for, tmp_path, mode):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", PAPERS)
    engines = IndexerSettings(home=tmp_path / "here"), settings_for(tmp_path / "there")

    def ranked(settings):
        request = IngestRequest(name="papers", paths=[str(corpus)], decompound=mode, rebuild=True)
        build_index(request, settings)
        with open_index(settings, "papers") as index:
            requests = [SearchRequest(question, "boolean", 10) for question in QUESTIONS]
            runs = [asyncio.run(rank(index, request, RetrieverSettings())) for request in requests]
            return [sorted(passage_id for passage_id, _ in run.hits) for run in runs]

    here, there = map(ranked, engines)

    assert here == there
    assert all(here)


def test_a_match_of_another_tool_is_analysed_as_the_text_was(settings_for, tmp_path):
    settings = settings_for(tmp_path / "home").elasticsearch
    corpus = write_jsonl(tmp_path / "corpus.jsonl", PAPERS)
    build_index(IngestRequest("papers", [str(corpus)], rebuild=True), settings_for(tmp_path / "home"))

    with client_of(settings) as client:
        found = client.search(
            index=alias_of(settings.prefix, "papers"),
            query={"match_phrase": {"text": "논에서 배출되는 메탄을"}},
        )

    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["B"]
