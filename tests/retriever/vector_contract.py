"""What every engine promises of vectors: tests for whatever `settings_for` of a module sets.

A module of tests imports all of this beside a fixture `settings_for`, which makes settings for a home.
"""

import asyncio
import json
from contextlib import closing, contextmanager
from math import sqrt

import pytest

from base.errors import InvalidCall
from indexer.encoders import open_encoder
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable
from indexer.ingest import IngestRequest, build_index, encode_passages
from indexer.settings import EncoderSettings
from indexer.versions.store.engines import open_store
from retriever.errors import BadFilter
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import write_jsonl

PAPERS = [
    {"id": "AXOLOTL", "title": "axolotl", "abstract": "axolotl", "year": 2020},
    {"id": "BOTH", "title": "axolotl pangolin", "abstract": "A study.", "year": 2021},
    {"id": "PANGOLIN", "title": "pangolin", "abstract": "pangolin", "year": 2022},
    {"id": "TIE-1", "title": "quokka", "abstract": "One."},
    {"id": "TIE-2", "title": "quokka", "abstract": "Two."},
    {"id": "KOREAN", "title": "도롱뇽", "abstract": "도롱뇽 연구", "lang": "ko"},
]


@pytest.fixture
def server():
    with embedding_server() as running:
        yield running


@pytest.fixture
def settings(settings_for, server, tmp_path):
    return with_encoder(settings_for(tmp_path), server)


@pytest.fixture
def built(settings, tmp_path):
    build(settings, PAPERS, tmp_path)
    return settings


def with_encoder(settings, server, **changed):
    encoder = EncoderSettings.model_validate(server.settings(**changed))
    return settings.model_copy(update={"encoder": encoder})


def without_encoder(settings):
    return settings.model_copy(update={"encoder": EncoderSettings()})


def build(settings, papers, tmp_path, name="corpus", **options):
    path = write_jsonl(tmp_path / f"{name}.jsonl", papers)
    return build_index(IngestRequest("papers", [str(path)], **options), settings).manifest


@contextmanager
def opened(settings):
    with open_index(settings, "papers") as index:
        yield index


def question(settings, text, storage="float32"):
    opened = open_encoder(settings.encoder)
    assert opened
    with closing(opened) as encoder:
        return to_storage(encoder.encode_queries([text]), storage)[0]


def cosines(settings, text, ids, **options):
    with opened(settings) as index:
        return index.engine.similarities(question(settings, text, **options), ids)


def nearest(settings, text, k, **filters):
    with opened(settings) as index:
        found = index.engine.nearest(question(settings, text), k, filters=Filters(**filters))
        return [(hit.passage_id, hit.score) for hit in found]


def found(settings, text, method="dense", k=10, **request):
    with opened(settings) as index:
        asked = SearchRequest(text, method=method, k=k, **request)
        return asyncio.run(search(index, asked, RetrieverSettings()))


def ids(result):
    return [hit.passage_id for hit in result.hits]


def test_passages_get_their_vectors_while_they_are_indexed(settings, tmp_path):
    manifest = build(settings, PAPERS, tmp_path)

    assert manifest.vector_count == 6
    assert manifest.vector_fingerprint.model == "word-counts"
    assert cosines(settings, "axolotl", ["BOTH", "AXOLOTL", "PANGOLIN", "NONE"]) == {
        "AXOLOTL": 1.0,
        "BOTH": pytest.approx(1 / sqrt(2), abs=1e-6),
        "PANGOLIN": 0.0,
    }


def test_the_nearest_come_by_cosine_then_passage_id(built):
    assert nearest(built, "quokka axolotl", 3) == [
        ("AXOLOTL", pytest.approx(1 / sqrt(2), abs=1e-6)),
        ("TIE-1", pytest.approx(1 / sqrt(2), abs=1e-6)),
        ("TIE-2", pytest.approx(1 / sqrt(2), abs=1e-6)),
    ]


def test_the_nearest_satisfy_the_filters(built):
    years = Range(2021, 2022, "year")
    assert [name for name, _ in nearest(built, "axolotl", 2, years=years)] == ["BOTH", "PANGOLIN"]
    assert [name for name, _ in nearest(built, "axolotl", 5, lang="ko")] == ["KOREAN"]
    chosen = nearest(built, "axolotl", 5, doc_ids=("TIE-1", "AXOLOTL"), parts=("abstract",))
    assert [name for name, _ in chosen] == ["AXOLOTL", "TIE-1"]


def test_an_update_encodes_what_is_new_and_keeps_the_rest(built, server, tmp_path):
    server.texts.clear()

    changed = [{"id": "BOTH", "title": "rice", "abstract": "rice"}, {"id": "NEW", "title": "methane"}]
    manifest = build(built, changed, tmp_path, "update")

    assert sorted(text for text in server.texts if "learn" not in text) == ["methane", "rice\nrice"]
    assert manifest.vector_count == 7
    assert cosines(built, "rice", ["BOTH", "AXOLOTL", "NEW"]) == {"BOTH": 1.0, "AXOLOTL": 0.0, "NEW": 0.0}
    assert nearest(built, "axolotl", 1) == [("AXOLOTL", 1.0)]


def test_vectors_are_added_to_an_index_that_has_none(settings, server, tmp_path):
    build(without_encoder(settings), PAPERS, tmp_path)

    manifest, encoded = encode_passages("papers", settings)

    assert (manifest.version, manifest.vector_count, encoded) == (2, 6, 6)
    assert ids(found(settings, "axolotl")) == ["AXOLOTL", "BOTH", "KOREAN", "PANGOLIN", "TIE-1", "TIE-2"]
    server.texts.clear()
    assert encode_passages("papers", settings) == (manifest, 0)
    assert [text for text in server.texts if "learn" not in text] == []


def test_an_encoder_that_fails_loses_nothing_that_was_encoded(settings, server, tmp_path, monkeypatch):
    monkeypatch.setattr("indexer.building.vector_stage.WINDOW", 2)
    build(without_encoder(settings), PAPERS[:1], tmp_path)
    server.left = 4  # one to learn the dimensions from, and a window

    with pytest.raises(EncoderUnusable):
        build(settings, PAPERS, tmp_path, "all", rebuild=True)
    assert ids(found(without_encoder(settings), "axolotl", method="or")) == ["AXOLOTL"]
    server.left, tried = float("inf"), len(server.texts)
    manifest = build(settings, PAPERS, tmp_path, "all", rebuild=True)

    assert manifest.vector_count == 6
    assert len([text for text in server.texts[tried:] if "learn" not in text]) == 4
    with open_store(settings, "papers") as folder:
        assert not folder.local.encoded.exists()


def test_an_update_by_another_encoder_is_refused(built, server, tmp_path):
    other = with_encoder(built, server, model="other-counts")
    with pytest.raises(InvalidCall, match=r"has vectors of another encoder \(model: 'word-counts', now 'oth"):
        build(other, PAPERS[:1], tmp_path, "update")


def test_a_question_by_another_encoder_is_ranked_without_vectors_and_says_so(built, server):
    other = with_encoder(built, server, model="other-counts")

    result = found(other, "axolotl", method="shrag")

    assert set(ids(result)) == {"AXOLOTL", "BOTH"}
    assert "the encoder is another one (model: 'word-counts', now 'other-counts')" in result.notes[0]
    with pytest.raises(BadFilter, match="method 'dense' needs vectors: the index's vectors are not used"):
        found(other, "axolotl")


def test_the_paper_orders_its_union_by_cosine(settings, tmp_path):
    papers = [
        {"id": "FAR", "title": "salamander salamander", "abstract": "quokka quokka quokka"},
        {"id": "NEAR", "title": "A longer title about nothing much", "abstract": "One salamander, says it."},
        {"id": "NEARER", "title": "On a salamander", "abstract": "And salamander and salamander again."},
    ]
    build(settings, papers, tmp_path)

    result = found(settings, "salamander", method="paper")

    # NEAR's one word is written with a comma, which the server takes for another word.
    assert [(hit.passage_id, hit.score) for hit in result.hits] == [
        ("NEARER", 1.0),
        ("FAR", round(2 / sqrt(13), 4)),
        ("NEAR", 0.0),
    ]
    assert (
        result.order
        == "cosine of the question's and the passages' vectors, of the progressive queries' union"
    )


def test_a_passage_with_none_of_the_words_is_found_by_its_vector(settings, tmp_path):
    papers = [*PAPERS, {"id": "OTHER", "title": "methane", "abstract": "methane"}]
    build(settings, papers, tmp_path)

    result = found(settings, "methane rice", method="shrag")

    assert ids(result)[0] == "OTHER"
    assert len(result.hits) == 7  # the nearest hundred are candidates too
    assert result.queries[-1].query == "(the passages nearest to the question's vector)"
    assert json.dumps(result.as_record())


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("axolotl -pangolin", {}),
        ("axolotl, excluding pangolin", {}),
        ("axolotl pangolin", {"strategy": Strategy(en=("axolotl",), exclude=({"en": "pangolin"},))}),
    ],
)
def test_the_encoder_gets_the_question_without_what_is_excluded(built, server, question, request_):
    server.texts.clear()

    result = found(built, question, "shrag", **request_)

    assert server.texts[-1] == "axolotl"
    assert "papers about pangolin are ranked lower" in " ".join(result.notes)
