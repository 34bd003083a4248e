"""Bundles made of real wheels and a tiny model: what is in them."""

import pytest

from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import Model, files_below, read_manifest
from stack.bundle.wheels import for_platforms
from stack.errors import BundleCallError, BundleIncomplete


def test_a_bundle_holds_what_was_asked_for_and_says_so(whole, checkout):
    manifest = read_manifest(whole)
    head = (checkout / ".git" / "refs" / "heads" / "main").read_text("utf-8")
    assert manifest.commit == head.strip()
    assert manifest.models == (Model("owner/tiny", "", "folder"),)
    paths = set(files_below(whole))
    assert {"source/requirements/base.txt", "models/owner/tiny/b.safetensors"} <= paths
    assert sum(path.endswith(".whl") for path in paths) >= 2
    assert manifest.missing == {}
    assert manifest.files == len(paths) - 1  # but the manifest itself
    assert not whole.with_name("out.partial").exists()


def test_a_bundle_that_is_there_is_not_overwritten(checkout, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(BundleCallError, match="is there already"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_folder_that_no_bundle_was_begun_in_is_not_taken(checkout, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / ".env").write_text("KEY=secret")
    with pytest.raises(BundleCallError, match="no bundle that was begun"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert [path.name for path in (tmp_path / "out.partial").iterdir()] == [".env"]


def test_wheels_for_another_system_are_asked_for_by_their_tags():
    options = for_platforms(["manylinux_2_28_aarch64"])
    assert {"--platform=manylinux_2_28_aarch64", "--no-deps"} <= set(options)
    assert for_platforms([]) == []


def test_a_lock_that_the_source_has_not_is_one_error(checkout, tmp_path):
    request = BundleRequest(tmp_path / "out", extra="models", checkout=checkout)
    with pytest.raises(BundleIncomplete, match=r"the source has no requirements/models\.txt"):
        make_bundle(request)
