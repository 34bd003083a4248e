"""The encoder in this process, with tiny models of the real classes."""

import json
import shutil
import sys

import numpy as np
import pytest

from base.errors import InvalidCall
from indexer.encoders.local import LocalEncoder
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


def test_a_passage_gets_the_vector_that_the_library_gives(library, encoder, gte):
    expected = library.SentenceTransformer(str(gte), device="cpu").encode_document(TEXTS, batch_size=1)

    assert encoder.encode_passages(TEXTS) == pytest.approx(expected, abs=1e-6)


def test_a_question_gets_the_vector_that_the_library_gives(library, encoder, gte):
    expected = library.SentenceTransformer(str(gte), device="cpu").encode_query(TEXTS, batch_size=1)

    assert encoder.encode_queries(TEXTS) == pytest.approx(expected, abs=1e-6)


def test_no_texts_give_no_vectors(encoder):
    assert encoder.encode_passages([]).shape == (0, 32)
    assert encoder.encode_queries([]).shape == (0, 32)


@pytest.mark.parametrize("model", ["gte", "bert"])
def test_a_vector_does_not_depend_on_the_texts_beside_it(request, model):
    encoder = LocalEncoder(settings_of(request.getfixturevalue(model), batch_tokens=128))

    together = encoder.encode_passages(TEXTS)
    turned = encoder.encode_passages(TEXTS[::-1])[::-1]
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])

    assert together == pytest.approx(alone, abs=1e-6)
    assert turned == pytest.approx(alone, abs=1e-6)


def test_progress_counts_the_texts(encoder):
    counts: list[int] = []

    encoder.encode_passages(TEXTS, counts.append)

    assert counts[-1] == len(TEXTS)


def test_the_fingerprint_says_what_is_used(encoder):
    fingerprint = encoder.fingerprint

    assert fingerprint.model == "model"
    assert fingerprint.revision.startswith("files:")
    assert (fingerprint.query_prefix, fingerprint.passage_prefix) == ("q: ", "")
    assert (fingerprint.pooling, fingerprint.dimensions, fingerprint.max_tokens) == ("cls", 32, 128)
    assert fingerprint.storage == "float32"


def test_the_fingerprint_names_the_pooling_and_what_follows_it(bert):
    fingerprint = LocalEncoder(settings_of(bert)).fingerprint

    assert (fingerprint.pooling, fingerprint.dimensions) == ("mean > dense", 16)


def test_the_fingerprint_does_not_depend_on_where_the_folder_lies(encoder, gte, tmp_path):
    moved = shutil.copytree(gte, tmp_path / "model")

    assert LocalEncoder(settings_of(moved)).fingerprint == encoder.fingerprint


def test_another_model_in_the_same_folder_has_another_fingerprint(encoder, tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_gte

    other = tiny_gte(tmp_path, seed=1, prompts={"query": "q: "})

    fingerprint = LocalEncoder(settings_of(other)).fingerprint

    assert fingerprint.model == encoder.fingerprint.model
    assert fingerprint.revision != encoder.fingerprint.revision


def test_prefixes_of_the_settings_go_before_the_models_own(gte, encoder):
    prefixed = LocalEncoder(settings_of(gte, query_prefix="", passage_prefix="p: "))

    assert (prefixed.fingerprint.query_prefix, prefixed.fingerprint.passage_prefix) == ("", "p: ")
    assert prefixed.encode_queries(["abc"]) == pytest.approx(encoder.encode_passages(["abc"]), abs=1e-6)
    assert prefixed.encode_passages(["abc"]) == pytest.approx(encoder.encode_passages(["p: abc"]), abs=1e-6)


def test_fewer_dimensions_are_the_first_ones_at_unit_length(gte, encoder):
    first = encoder.encode_passages(TEXTS)[:, :8]

    shorter = LocalEncoder(settings_of(gte, dimensions=8))

    expected = first / np.linalg.norm(first, axis=1, keepdims=True)
    assert shorter.encode_passages(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert shorter.fingerprint.dimensions == 8


def test_more_dimensions_than_the_model_has_are_refused(gte):
    with pytest.raises(InvalidCall, match=r"32 .* 64.*SHRAG_ENCODER__DIMENSIONS"):
        LocalEncoder(settings_of(gte, dimensions=64))


def test_more_tokens_than_the_model_has_places_for_are_refused(gte):
    with pytest.raises(InvalidCall, match=r"128 .* 256.*SHRAG_ENCODER__MAX_TOKENS"):
        LocalEncoder(settings_of(gte, max_tokens=256))


def test_text_behind_the_last_token_changes_nothing(gte):
    short = LocalEncoder(settings_of(gte, max_tokens=10))

    assert short.fingerprint.max_tokens == 10
    assert short.encode_passages(["ab cd ef gh"]) == pytest.approx(
        short.encode_passages(["ab cd ef gh ij kl"]), abs=1e-6
    )


def test_a_text_of_a_million_characters_is_encoded_as_its_beginning(encoder):
    words = "검색 abc " * 140_000

    assert encoder.encode_passages([words]) == pytest.approx(
        encoder.encode_passages([words[:2000]]), abs=1e-6
    )


def test_a_lone_surrogate_is_read_as_the_replacement_sign(encoder):
    assert encoder.encode_passages(["ab \ud800 cd"]) == pytest.approx(
        encoder.encode_passages(["ab \ufffd cd"]), abs=1e-6
    )


def test_a_number_that_is_none_is_told_with_the_position_of_the_text(gte):
    broken = LocalEncoder(settings_of(gte))
    ids = broken.model.tokenizer("7")["input_ids"]
    embeddings = broken.model.transformers_model.get_input_embeddings()
    embeddings.weight.data[ids[-2]] = float("nan")

    with pytest.raises(EncoderUnusable, match=r"'model': .*text 2.* NaN.*PRECISION"):
        broken.encode_passages(["a", "b", "7", "c"])


def test_a_folder_that_holds_no_model_is_said_so(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))

    with pytest.raises(EncoderUnusable, match=r"cannot be loaded"):
        LocalEncoder(settings_of(tmp_path))


def test_a_device_that_is_not_there_is_said_so(gte):
    with pytest.raises(EncoderUnusable, match=r"'cuda:99'.*auto or cpu"):
        LocalEncoder(EncoderSettings(provider="local", model=str(gte), device="cuda:99"))


@pytest.fixture
def connections():
    """Take down every address that a name is looked up for or that is connected to."""
    tried, watching = [], True

    def note(event, args):
        if watching and event in ("socket.connect", "socket.getaddrinfo"):
            tried.append((event, args))

    sys.addaudithook(note)  # cannot be taken away again, only stopped
    yield tried
    watching = False


def test_a_model_that_is_not_here_is_not_asked_for_anywhere(connections, tmp_path):
    absent = EncoderSettings(provider="local", cache=tmp_path, revision="0123abc")

    with pytest.raises(EncoderUnusable, match=r"'0123abc'.*SHRAG_ENCODER__DOWNLOAD=true"):
        LocalEncoder(absent)

    assert connections == []


def test_a_model_of_the_hub_is_read_from_the_cache_at_its_revision(connections, gte, tmp_path):
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
    assert connections == []
