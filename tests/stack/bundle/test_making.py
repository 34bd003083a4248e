"""Bundles made of real wheels and a tiny model: what is in them."""

import re
import shutil
import subprocess
import tomllib
from typing import get_args

import click
import pytest

from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import Extra, Model, files_below, read_manifest
from stack.bundle.source import CHECKOUT
from stack.bundle.verifying import verify_bundle
from stack.bundle.wheels import for_platforms
from stack.commands import make as make_command
from stack.errors import BundleCallError, BundleIncomplete
from tests.stack.bundle.small_bundles import GIT, small_lock


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


def test_a_bundle_holds_the_wheels_of_several_extras_and_tells_how_to_install_them(
    checkout, registry, tmp_path
):
    checkout = shutil.copytree(checkout, tmp_path / "checkout")
    (checkout / "requirements" / "pdf.txt").write_text(small_lock("filelock"))
    for words in (["add", "."], ["commit", "--quiet", "-m", "pdf"]):
        subprocess.run([*GIT, "-C", str(checkout), *words], check=True)
    manifest = make_bundle(BundleRequest(tmp_path / "out", extras=("base", "pdf"), checkout=checkout))
    assert manifest.extras == ("base", "pdf")
    wheels = {path.name.partition("-")[0] for path in (tmp_path / "out" / "wheels").iterdir()}
    assert {"click", "defusedxml", "filelock"} <= wheels
    checked = verify_bundle(tmp_path / "out")
    assert checked.faults == ()
    assert any(" make install install-pdf " in command for command in checked.commands)


def test_every_extra_has_a_lock_a_target_of_make_and_a_place_in_bundles():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert {path.stem for path in (CHECKOUT / "requirements").glob("*.txt")} == {"base", *extras}
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    assert {f"install-{extra}" for extra in extras} <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert set(get_args(Extra)) == {"base", *extras} - {"quick"}  # of contributors alone


def test_bundles_hold_the_server_the_reader_of_pdfs_and_that_of_the_hub_where_nothing_else_is_asked_for():
    [option] = [each for each in make_command.params if each.name == "extras"]
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == set(get_args(Extra))
    assert option.default == ["server", "pdf", "hub"]


def test_a_bundle_that_is_there_is_not_overwritten(checkout, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(BundleCallError, match="exists already"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_folder_that_no_bundle_was_begun_in_is_not_taken(checkout, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / ".env").write_text("KEY=secret")
    with pytest.raises(BundleCallError, match="bundle"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert [path.name for path in (tmp_path / "out.partial").iterdir()] == [".env"]


def test_wheels_for_another_system_are_asked_for_by_their_tags():
    options = for_platforms(["manylinux_2_28_aarch64"])
    assert {"--platform=manylinux_2_28_aarch64", "--no-deps"} <= set(options)
    assert for_platforms([]) == []


def test_a_lock_that_the_source_has_not_is_one_error(checkout, tmp_path):
    request = BundleRequest(tmp_path / "out", extras=("models",), checkout=checkout)
    with pytest.raises(BundleIncomplete, match=r"requirements/models\.txt"):
        make_bundle(request)
