"""The encoder in this process, with tiny models of the real classes."""

import shutil
import socket

import numpy as np
import pytest

from base.errors import InvalidCall
from indexer.encoders.models import LocalEncoder
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

pytestmark = pytest.mark.needs_models

TEXTS = [
    "graph neural networks",
    "",
    "검색 논문 가나다",
    "a " * 40,
    "words of several lengths",
    "논문 " * 30,
    "b",
    "x" * 90,
]


@pytest.fixture(scope="module")
def encoder(gte):
    return LocalEncoder(settings_of(gte))


def settings_of(folder, **options):
    return EncoderSettings(provider="local", model=str(folder), device="cpu", **options)


def test_vectors_are_those_of_the_library(library, encoder, gte):
    model = library.SentenceTransformer(str(gte), device="cpu")

    assert encoder.encode_passages(TEXTS) == pytest.approx(
        model.encode_document(TEXTS, batch_size=1), abs=1e-6
    )
    assert encoder.encode_queries(TEXTS) == pytest.approx(model.encode_query(TEXTS, batch_size=1), abs=1e-6)


@pytest.mark.parametrize("model", ["gte", "bert"])
def test_a_vector_hardly_depends_on_the_texts_beside_it(request, model):
    encoder = LocalEncoder(settings_of(request.getfixturevalue(model), batch_tokens=128))
    counts: list[int] = []

    together = encoder.encode_passages(TEXTS, counts.append)
    turned = encoder.encode_passages(TEXTS[::-1])[::-1]
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])

    assert together == pytest.approx(alone, abs=1e-6)
    assert turned == pytest.approx(alone, abs=1e-6)
    assert (counts[-1], len(counts) > 1) == (len(TEXTS), True)
    assert encoder.encode_passages(TEXTS).tobytes() == together.tobytes()


def test_the_fingerprint_names_what_the_vectors_depend_on(encoder, bert, gte, tmp_path):
    fingerprint = encoder.fingerprint
    moved = shutil.copytree(gte, tmp_path / "model")

    assert (fingerprint.model, fingerprint.revision[:6]) == ("model", "files:")
    assert (fingerprint.query_prefix, fingerprint.passage_prefix) == ("q: ", "")
    assert (fingerprint.pooling, fingerprint.dimensions, fingerprint.max_tokens) == ("cls", 32, 128)
    assert fingerprint.storage == "float32"
    assert LocalEncoder(settings_of(moved)).fingerprint == fingerprint
    dense = LocalEncoder(settings_of(bert)).fingerprint
    assert (dense.pooling, dense.dimensions) == ("mean > dense", 16)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 64}, r"32 .* 64.*SHRAG_ENCODER__DIMENSIONS"),
        ({"max_tokens": 256}, r"128 .* 256.*SHRAG_ENCODER__MAX_TOKENS"),
    ],
)
def test_more_than_the_model_has_is_refused(gte, options, message):
    with pytest.raises(InvalidCall, match=message):
        LocalEncoder(settings_of(gte, **options))


def test_an_invalid_vector_is_named_by_the_position_of_its_text(gte):
    broken = LocalEncoder(settings_of(gte))
    ids = broken.library.tokenizer("7")["input_ids"]
    embeddings = broken.library.transformers_model.get_input_embeddings()
    embeddings.weight.data[ids[-2]] = float("nan")

    with pytest.raises(EncoderUnusable, match=r"'model': .*text 2.* NaN.*PRECISION"):
        broken.encode_passages(["a", "b", "7", "c"])


@pytest.fixture
def _offline(monkeypatch):
    def refuse(*_):
        raise AssertionError("no address may be looked up")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("_offline")
def test_a_missing_model_is_not_requested_from_the_network(tmp_path):
    absent = EncoderSettings(provider="local", cache=tmp_path, revision="0123abc")

    with pytest.raises(EncoderUnusable, match=r"'0123abc'.*SHRAG_ENCODER__DOWNLOAD=true"):
        LocalEncoder(absent)


@pytest.mark.usefixtures("_offline")
def test_a_model_of_the_hub_is_read_from_the_cache_at_its_revision(gte, tmp_path):
    commit = "a" * 40
    cached = tmp_path / "models--some-group--some-model"
    shutil.copytree(gte, cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)

    encoder = LocalEncoder(
        EncoderSettings(provider="local", model="some-group/some-model", cache=tmp_path, device="cpu")
    )

    assert (encoder.fingerprint.model, encoder.fingerprint.revision) == ("some-group/some-model", commit)
    assert encoder.encode_queries(["abc"]).shape == (1, 32)
