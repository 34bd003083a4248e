"""Batches, the identity of a folder's files, and stored vectors."""

import sys

import numpy as np
import pytest

from base.errors import LibraryMissing
from indexer.encoders.models import LocalEncoder, cut_into_batches, hash_of
from indexer.encoders.rounding import cosines, to_storage
from indexer.settings import EncoderSettings


@pytest.mark.parametrize(
    ("characters", "batch_tokens", "max_tokens", "batches"),
    [
        ([180, 200, 176, 200, 200], 160, 0, [[1, 3, 4], [0, 2]]),  # 51 tokens each: three fit
        ([400, 4, 400], 50, 0, [[0], [2], [1]]),  # a text beyond the limit is alone
        ([4_000, 4_000, 4_000], 20, 10, [[0, 1], [2]]),  # only ten tokens of each are read
        ([], 50, 0, []),
    ],
)
def test_batches_have_texts_of_similar_length(characters, batch_tokens, max_tokens, batches):
    texts = ["x" * count for count in characters]

    assert list(cut_into_batches(texts, batch_tokens, max_tokens)) == batches
    assert (
        list(cut_into_batches([(text[:3], text[3:]) for text in texts], batch_tokens, max_tokens)) == batches
    )


BIG = 8 << 20


@pytest.mark.parametrize(
    ("files", "is_same"),
    [
        ({"config.json": b"{}", "model.safetensors": b"123", "README.md": b"hello"}, True),
        ({"config.json": b"{}", "model.safetensors": b"124"}, False),
        ({"config.json": b"{}", "other.safetensors": b"123"}, False),
    ],
)
def test_the_hash_of_a_model_depends_on_names_and_contents(tmp_path, files, is_same):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, contents in ((one, {"config.json": b"{}", "model.safetensors": b"123"}), (other, files)):
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(content)

    assert (hash_of(one) == hash_of(other)) == is_same


def test_other_weights_change_the_hash_of_a_large_file(tmp_path):
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(BIG))
    before = hash_of(tmp_path)
    weights.write_bytes(bytes(BIG - (1 << 16)) + b"\1" * (1 << 16))

    assert hash_of(tmp_path) != before


def test_missing_libraries_are_named_with_the_next_step(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # an absent module

    with pytest.raises(LibraryMissing, match=r"make install-models"):
        LocalEncoder(EncoderSettings(provider="local"))


@pytest.mark.parametrize(
    ("vector", "stored"), [([0.6, -0.8], [76, -102]), ([1.0, 0.0], [127, 0]), ([1.01, -1.01], [127, -127])]
)
def test_int8_is_the_unit_vector_times_127(vector, stored):
    rows = to_storage(np.array([vector], np.float32), "int8")

    assert (str(rows.dtype), rows.tolist()) == ("int8", [stored])


def test_the_cosine_of_int8_rows_is_that_of_the_integers():
    rows = np.array([[3, 4], [4, -3], [-3, -4], [0, 0]], np.int8)

    assert cosines(rows, np.array([3, 4], np.int8)).tolist() == [1.0, 0.0, -1.0, 0.0]


@pytest.mark.parametrize("dimensions", [768, 4096])
def test_sums_of_int8_products_do_not_depend_on_their_order(dimensions):
    rows = np.full((1, dimensions), 127, np.int8)
    rows[0, 0] = 1
    vector = np.full(dimensions, 127, np.int8)

    assert cosines(rows, vector).tolist() == cosines(rows[:, ::-1], vector).tolist()
