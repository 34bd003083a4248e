"""Hits re-ranked by a real, tiny cross-encoder."""

import asyncio

import pytest

from indexer.encoders.cross_encoder import CrossEncoderReranker
from indexer.settings import IndexerSettings, RerankerSettings
from retriever.search import SearchRequest, rank, search
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import indexed

pytestmark = pytest.mark.needs_models

PAPERS = [
    {"id": f"P{number}", "title": f"axolotl {'x' * number}", "abstract": "A study."} for number in range(6)
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    folder = tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")
    return RerankerSettings(provider="local", model=str(folder), device="cpu")


@pytest.fixture(scope="module")
def index(tmp_path_factory, model):
    settings = IndexerSettings(home=tmp_path_factory.mktemp("home"), workers=1, reranker=model)
    with indexed(settings, PAPERS) as index:
        yield index


def ranked(index, method, depth):
    settings = RetrieverSettings(rerank_depth=depth)
    return asyncio.run(rank(index, SearchRequest("axolotl", method=method), settings)).hits


def test_the_first_hits_are_in_the_order_of_the_cross_encoder(index, model):
    texts = {paper["id"]: f"{paper['title']}\n{paper['abstract']}" for paper in PAPERS}
    scores = CrossEncoderReranker(model).scores("axolotl", list(texts.values())).tolist()

    found = ranked(index, "shrag", depth=6)

    wanted = sorted(zip(texts, scores, strict=True), key=lambda one: (-one[1], one[0]))
    assert [name for name, _ in found] == [name for name, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-5)


def test_hits_behind_the_depth_keep_their_order_and_stay_behind(index):
    found = ranked(index, "shrag", depth=2)

    assert [name for name, _ in found[2:]] == ["P2", "P3", "P4", "P5"]
    assert [score for _, score in found[2:]] == [found[1][1] - place for place in (1, 2, 3, 4)]


def test_a_cross_encoder_that_is_not_there_leaves_the_order_and_says_so(tmp_path):
    missing = RerankerSettings(provider="local", model=str(tmp_path / "nothing"))
    settings = IndexerSettings(home=tmp_path, workers=1, reranker=missing)
    with indexed(settings, PAPERS) as index:
        result = asyncio.run(search(index, SearchRequest("axolotl"), RetrieverSettings()))

    assert [hit.passage_id for hit in result.hits] == ["P0", "P1", "P2", "P3", "P4", "P5"]
    assert result.notes[0].startswith("not re-ranked, the cross-encoder failed: ")
