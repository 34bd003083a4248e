"""Bundles checked: whole ones, and damaged in every way."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from stack.bundle.models import model_faults
from stack.bundle.verifying import file_faults, verify_bundle
from stack.errors import BundleDamaged


def change_manifest(folder, **changed):
    record = json.loads((folder / "bundle.json").read_text("utf-8"))
    (folder / "bundle.json").write_text(json.dumps(record | changed))


def faults_of(folder):
    """Return what is wrong with the files alone; pip, which takes its time, is not asked."""
    return list(file_faults(folder))


def test_a_whole_bundle_is_verified_and_tells_how_to_install(whole):
    checked = verify_bundle(whole)
    assert checked.faults == ()
    assert any(
        f"PIP_NO_INDEX=1 PIP_FIND_LINKS=file://{whole}/wheels make install " in command
        for command in checked.commands
    )
    assert any(f"MODELS_FOLDER={whole}/models" in command for command in checked.commands)


def test_the_commands_are_whole_where_a_path_has_a_blank(whole, tmp_path):
    folder = tmp_path / "my disk"
    shutil.copytree(whole, folder)
    commands = [shlex.split(command, comments=True) for command in verify_bundle(folder).commands]
    assert commands[0] == ["cp", "-r", f"{folder}/source", "shrag", "&&", "cd", "shrag"]
    assert commands[1][1] == f"PIP_FIND_LINKS=file://{tmp_path}/my%20disk/wheels"
    assert commands[2][:2] == ["echo", f"MODELS_FOLDER={folder}/models"]
    links = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": commands[1][1].partition("=")[2]}
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(tmp_path), "defusedxml"]
    subprocess.run(download, env=links, check=True)


def test_sha256sum_verifies_it_where_nothing_is_installed(whole):
    check = ["sha256sum", "--quiet", "--strict", "--check", "SHA256SUMS"]
    assert subprocess.run(check, cwd=whole, check=False).returncode == 0


def damage(path):
    path.write_bytes(b"W" + path.read_bytes()[1:])


TINY = "models/owner/tiny"


@pytest.mark.parametrize(
    ("name", "act", "fault"),
    [
        (f"{TINY}/a.safetensors", damage, "is damaged (its hash differs)"),
        (f"{TINY}/config.json", lambda path: path.write_bytes(b"{}"), "is damaged (its hash differs)"),
        (f"{TINY}/config.json", lambda path: path.unlink() or path.symlink_to("nowhere"), "is missing"),
        ("wheels/more.whl", lambda path: path.write_bytes(b""), "does not belong to the bundle"),
        ("source/link", lambda path: path.symlink_to("/etc"), "does not belong to the bundle"),
        ("SHA256SUMS", lambda path: path.unlink(), "cannot be read (No such file or directory)"),
        ("bundle.json", damage, "is damaged (its hash differs)"),
    ],
)
def test_what_is_not_as_it_was_made_is_found(bundle, name, act, fault):
    act(bundle / name)
    assert faults_of(bundle) == [f"{name}: {fault}"]


def test_a_missing_shard_is_found_as_a_file_and_as_a_model_that_cannot_be_loaded(bundle):
    (bundle / "models/owner/tiny/b.safetensors").unlink()
    first, second = verify_bundle(bundle).faults
    assert first == "models/owner/tiny/b.safetensors: is missing"
    assert re.match("model owner/tiny: .*b.safetensors", second)


def test_a_missing_wheel_is_found_by_pip_too(bundle):
    next((bundle / "wheels").glob("defusedxml-*.whl")).unlink()
    faults = verify_bundle(bundle).faults
    assert [
        fault for fault in faults if fault.startswith("wheels/defusedxml") and fault.endswith("is missing")
    ]
    assert [fault for fault in faults if fault.startswith("wheels: ERROR") and "defusedxml" in fault]


def test_a_link_out_of_the_bundle_is_found(bundle, tmp_path):
    config = bundle / "models/owner/tiny/config.json"
    (tmp_path / "same.json").write_bytes(config.read_bytes())
    config.unlink()
    config.symlink_to(tmp_path / "same.json")
    assert [fault.partition(": ")[0] for fault in faults_of(bundle)] == ["models/owner/tiny/config.json"]


def test_a_manifest_that_was_changed_is_found_by_its_sum(bundle):
    change_manifest(bundle, commit="0" * 40)
    assert faults_of(bundle) == ["bundle.json: is damaged (its hash differs)"]


def test_a_lock_that_there_is_not_is_one_error(bundle):
    change_manifest(bundle, extras=["other"])
    with pytest.raises(BundleDamaged, match="cannot be read"):
        verify_bundle(bundle)


def test_wheels_for_another_python_are_told(bundle):
    change_manifest(bundle, python="3.99")
    faults = verify_bundle(bundle).faults
    assert any(re.match(r"wheels: .*3\.99", fault) for fault in faults)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_manifest_that_cannot_be_read_is_one_error(tmp_path, text):
    (tmp_path / "bundle.json").write_text(text)
    with pytest.raises(BundleDamaged):
        verify_bundle(tmp_path)


@pytest.mark.parametrize(
    "changed", [{"models": [{"revision": ""}]}, {"images": [{"name": "a", "digest": ""}]}]
)
def test_a_manifest_that_lacks_a_part_is_one_error(bundle, changed):
    change_manifest(bundle, **changed)
    with pytest.raises(BundleDamaged, match="cannot be read"):
        verify_bundle(bundle)


def test_pipes_in_the_place_of_files_are_not_waited_for(bundle):
    for name in ("SHA256SUMS", "models/owner/tiny/config.json", "wheels/more.whl"):
        (bundle / name).unlink(missing_ok=True)
        os.mkfifo(bundle / name)
    assert [fault.partition(": ")[0] for fault in faults_of(bundle)] == ["SHA256SUMS"]
    assert next(model_faults(bundle / TINY)).startswith("config.json is missing")
    (bundle / "bundle.json").unlink()
    os.mkfifo(bundle / "bundle.json")
    with pytest.raises(BundleDamaged):
        verify_bundle(bundle)


def test_a_folder_that_is_no_bundle_is_one_error(tmp_path):
    with pytest.raises(BundleDamaged):
        verify_bundle(tmp_path)
