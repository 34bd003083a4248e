"""The mark of a folder's files, which tells one model from another."""

import sys

import pytest

from base.errors import LibraryMissing
from indexer.encoders.local import LocalEncoder
from indexer.encoders.origin import mark_of
from indexer.settings import EncoderSettings


def folder_of(path, **files):
    path.mkdir()
    for name, content in files.items():
        (path / name.replace("_", ".")).write_bytes(content)
    return path


def test_the_mark_hangs_on_names_and_contents_alone(tmp_path):
    one = folder_of(tmp_path / "one", config_json=b"{}", model_safetensors=b"123")
    same = folder_of(tmp_path / "two", config_json=b"{}", model_safetensors=b"123", README_md=b"hello")
    other = folder_of(tmp_path / "three", config_json=b"{}", model_safetensors=b"124")

    assert mark_of(one) == mark_of(same)
    assert mark_of(one) != mark_of(other)


def test_other_weights_of_the_same_size_are_noticed_in_a_large_file(tmp_path):
    size = 8 << 20
    one = folder_of(tmp_path / "one", model_safetensors=bytes(size))
    other = folder_of(tmp_path / "other", model_safetensors=bytes(size - (1 << 16)) + b"\1" * (1 << 16))

    assert mark_of(one) != mark_of(other)


def test_without_the_libraries_the_next_step_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # what an absent module looks like

    with pytest.raises(LibraryMissing, match=r"make install-models"):
        LocalEncoder(EncoderSettings(provider="local"))
