"""Models of a bundle: how they are named, and what makes one whole."""

import json

import pytest

from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import files_below, hashes_below
from stack.bundle.models import ModelSource, collect_model, model_faults, parse_model
from stack.errors import BundleCallError, BundleIncomplete
from tests.stack.bundle.small_bundles import write_model


def test_a_link_to_a_folder_is_not_bundled(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with pytest.raises(BundleIncomplete, match="link"):
        hashes_below(tmp_path)


def test_what_is_hidden_in_a_model_s_folder_is_not_carried_away(tmp_path):
    model = write_model(tmp_path / "model")
    for name in (".git/config", ".env", "sub/.netrc"):
        (model / name).parent.mkdir(exist_ok=True)
        (model / name).write_text("token")
    collect_model(ModelSource("o/m", folder=model), tmp_path / "to")
    assert sorted(files_below(tmp_path / "to")) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_two_models_of_one_name_are_refused(checkout, tmp_path):
    models = (ModelSource("o/m", revision="1"), ModelSource("o/m", folder=tmp_path))
    with pytest.raises(BundleCallError, match="o/m"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, models=models))


@pytest.mark.parametrize(
    "text",
    [
        "owner/name",
        "name@1",
        "/=name",
        "=owner/name",
        "/=a/b/c",
        "owner/../x@1",
        "/nowhere=owner/name",
        "owner/name@",
        "@1",
    ],
)
def test_a_model_without_a_revision_or_a_name_is_refused(text):
    with pytest.raises(BundleCallError):
        parse_model(text)


def test_a_model_is_named_by_its_revision_or_by_its_folder(tmp_path):
    assert parse_model("owner/name@abc") == ModelSource("owner/name", revision="abc")
    assert parse_model(f"{tmp_path}=owner/name") == ModelSource("owner/name", folder=tmp_path)


def test_a_model_without_weights_or_a_tokenizer_is_not_whole(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    first, second = model_faults(tmp_path)
    assert "tokenizer" in first
    assert "weights" in second


def test_a_module_of_sentence_transformers_that_is_missing_is_told(tmp_path):
    write_model(tmp_path)
    modules = [{"path": "", "type": "Transformer"}, {"path": "1_Pooling", "type": "Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    assert list(model_faults(tmp_path)) == [
        "modules.json names 1_Pooling, and 1_Pooling/config.json is missing"
    ]


def test_descriptions_that_hold_something_else_are_told(tmp_path):
    write_model(tmp_path, shards=("a.safetensors",))
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"layer": 1}}')
    (tmp_path / "modules.json").write_text('["1_Pooling", {"path": 1}]')
    assert [fault.split()[0] for fault in model_faults(tmp_path)] == [
        "model.safetensors.index.json",
        "modules.json",
        "modules.json",
    ]
