"""Bundles of a small checkout with real wheels, a tiny model and images of a program in place of docker."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import click
import pytest

from stack.bundle import (
    CHECKOUT,
    BundleRequest,
    Extra,
    Image,
    ModelSource,
    images_of,
    make_bundle,
    parse_model,
    verify_bundle,
)
from stack.commands import make as make_command
from stack.errors import BundleCallError, BundleDamaged, BundleIncomplete

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
SMALL = {"click", "colorama", "defusedxml"}
DOCKER = """#!/bin/sh
case "$1" in
version) echo 29 ;;
image) echo "docker.io/some/image@sha256:1111" ;;
save) ! [ -e "$3" ] && echo archive >"$3" ;;
esac
"""


def small_lock():
    """Return the lines of the project's lock for a few small wheels."""
    kept, keep = [], False
    for line in (CHECKOUT / "requirements" / "base.txt").read_text("utf-8").split("\n"):
        if line and not line[0].isspace() and not line.startswith("#"):
            keep = line.partition("==")[0] in SMALL
        if keep and not line.lstrip().startswith("#"):
            kept.append(line)
    return "\n".join(kept) + "\n"


def write_model(folder, *, shards=("a.safetensors", "b.safetensors")):
    folder.mkdir(parents=True)
    weights = {f"layer{number}": name for number, name in enumerate(shards)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    for name in ("config.json", "tokenizer.json", ".env", *shards):
        (folder / name).write_text("{}")
    return folder


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """Return a git clone that stands for the project, with a lock of a few small wheels."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "requirements").mkdir()
    (folder / "requirements" / "base.txt").write_text(small_lock())
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*GIT, "-C", str(folder), *words], check=True)
    return folder


@pytest.fixture(scope="session")
def registry():
    """Skip where no package registry can be reached; in CI that is a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", os.devnull, "defusedxml"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "No matching distribution" in done.stderr or "Could not find" in done.stderr:
        if os.environ.get("CI"):
            pytest.fail(f"no package registry: {done.stderr}")
        pytest.skip("no package registry can be reached: bundles of real wheels are not tested")


@pytest.fixture(scope="session")
def whole(checkout, registry, tmp_path_factory):
    """Return a bundle that nobody changes."""
    folder = tmp_path_factory.mktemp("bundle")
    model = ModelSource("owner/tiny", folder=write_model(folder / "model"))
    make_bundle(BundleRequest(folder / "out", checkout=checkout, models=(model,)))
    return folder / "out"


@pytest.fixture
def bundle(whole, tmp_path):
    """Return a copy of it, to break."""
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


@pytest.fixture
def without_wheels(monkeypatch):
    monkeypatch.setattr("stack.bundle._collect_wheels", lambda *_: None)


def test_a_bundle_holds_what_was_requested_and_is_verified(whole, checkout):
    verified = verify_bundle(whole)
    paths = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}

    assert verified.faults == ()
    assert verified.manifest.commit == (checkout / ".git/refs/heads/main").read_text().strip()
    assert verified.manifest.models == {"owner/tiny": ""}
    assert {"source/requirements/base.txt", "models/owner/tiny/b.safetensors"} <= paths
    assert "models/owner/tiny/.env" not in paths  # may contain keys
    assert {path.split("/")[1].partition("-")[0] for path in paths if path.endswith(".whl")} >= {"click"}
    assert verified.manifest.files == len(paths) - 2  # the manifest and the hashes
    assert any("make install PYTHON=" in command for command in verified.commands)
    assert (
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=whole, check=False).returncode
        == 0
    )


@pytest.mark.parametrize(
    ("breaks", "fault"),
    [
        (lambda folder: (folder / "models/owner/tiny/a.safetensors").unlink(), "a.safetensors: is missing"),
        (lambda folder: (folder / "models/owner/tiny/a.safetensors").unlink(), "names a.safetensors"),
        (lambda folder: (folder / "source/requirements/base.txt").write_text("x"), "is damaged"),
        (lambda folder: (folder / "source/new").write_text("x"), "source/new: does not belong"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS: cannot be read"),
        (lambda folder: next((folder / "wheels").glob("click*")).unlink(), "wheels of base: ERROR"),
    ],
)
def test_what_is_wrong_with_a_bundle_is_named(bundle, breaks, fault):
    breaks(bundle)

    assert any(fault in line for line in verify_bundle(bundle).faults)


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_folder_without_a_manifest_is_no_bundle(tmp_path, content):
    if content is not None:
        (tmp_path / "bundle.json").write_text(content)

    with pytest.raises(BundleDamaged):
        verify_bundle(tmp_path)


def test_an_unfinished_bundle_is_resumed_with_the_wheels_of_its_lock(checkout, registry, tmp_path):
    request = BundleRequest(
        tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", folder=tmp_path / "model"),)
    )
    with pytest.raises(BundleIncomplete, match="o/m"):
        make_bundle(request)
    wheels = tmp_path / "out.partial" / "wheels"
    fetched = {path.name: path.stat().st_mtime_ns for path in wheels.iterdir()}
    (wheels / "of_an_older_lock-1.0-py3-none-any.whl").write_bytes(b"PK")
    write_model(tmp_path / "model")

    make_bundle(request)

    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out/wheels").iterdir()} == fetched
    assert verify_bundle(tmp_path / "out").faults == ()
    with pytest.raises(BundleCallError, match="exists already"):
        make_bundle(request)


def test_wheels_that_cannot_be_had_are_named_and_the_rest_is_kept(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(BundleIncomplete, match=r"wheels of base\.txt: ERROR"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert (tmp_path / "out.partial/source/requirements/base.txt").is_file()


@pytest.mark.parametrize("lacks", ["config.json", "tokenizer.json", "b.safetensors"])
def test_a_model_without_its_files_ends_the_bundle(checkout, tmp_path, without_wheels, lacks):
    model = write_model(tmp_path / "model")
    (model / lacks).unlink()
    request = BundleRequest(tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", folder=model),))

    with pytest.raises(BundleIncomplete, match=rf"o/m: .*{lacks.partition('.')[0]}"):
        make_bundle(request)


def engine(folder, monkeypatch, text):
    """Put a program called docker on the path, and nothing else that saves images."""
    folder.mkdir()
    (folder / "docker").write_text(text)
    (folder / "docker").chmod(0o755)
    for name in ("git", "sh", "tar"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))


def test_images_are_saved_with_the_digest_of_their_registry(checkout, tmp_path, monkeypatch, without_wheels):
    engine(tmp_path / "bin", monkeypatch, DOCKER)
    images = ("some/image:1", "some_image:1")
    interrupted = tmp_path / "out.partial/images/some%2Fimage%3A1.tar"  # which podman does not replace
    interrupted.parent.mkdir(parents=True)
    interrupted.touch()

    manifest = make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, images=images))

    assert manifest.images[0] == Image("some/image:1", "sha256:1111", "images/some%2Fimage%3A1.tar")
    assert len({image.file for image in manifest.images}) == 2
    assert (tmp_path / "out/images/some%2Fimage%3A1.tar").read_text() == "archive\n"


def test_without_an_engine_that_works_images_are_missing(checkout, tmp_path, monkeypatch, without_wheels):
    engine(tmp_path / "bin", monkeypatch, "#!/bin/sh\nexit 1\n")

    manifest = make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, images=("some/image:1",)))

    assert "works here" in manifest.missing["image some/image:1"]
    assert any(fault.startswith("image some/image:1: ") for fault in verify_bundle(tmp_path / "out").faults)


def test_an_engine_that_fails_ends_the_bundle(checkout, tmp_path, monkeypatch, without_wheels):
    engine(
        tmp_path / "bin",
        monkeypatch,
        DOCKER.replace("image)", "pull) echo toomanyrequests >&2; exit 1 ;;\nimage)"),
    )

    with pytest.raises(BundleIncomplete, match="toomanyrequests"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, images=("some/image:1",)))


@pytest.mark.parametrize("text", ["o/m", "o/m@", "m@1", "/nowhere=o/m", ".o/m@1"])
def test_a_model_is_named_with_its_revision_or_folder(tmp_path, text):
    with pytest.raises(BundleCallError, match="OWNER/NAME@REVISION"):
        parse_model(text)
    assert parse_model("o/m@1") == ModelSource("o/m", "1")
    assert parse_model(f"{tmp_path}=o/m") == ModelSource("o/m", folder=tmp_path)


def test_calls_that_cannot_work_are_refused(checkout, tmp_path):
    twice = (ModelSource("o/m", "1"), ModelSource("o/m", "2"))
    for request in (
        BundleRequest(tmp_path / "no" / "out", checkout=checkout),
        BundleRequest(tmp_path / "out", checkout=checkout, models=twice),
        BundleRequest(tmp_path / "out", checkout=tmp_path),
    ):
        with pytest.raises(BundleCallError):
            make_bundle(request)


def test_the_images_of_the_compose_file_are_known():
    images = images_of((CHECKOUT / "docker-compose.yml").read_text("utf-8"))

    assert any(image.startswith("vllm/vllm-openai:") for image in images)
    assert len(images) == len(set(images))


def test_every_extra_has_a_lock_a_target_of_make_and_a_choice_in_the_command():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    [extras] = [each for each in make_command.params if each.name == "extras"]

    assert isinstance(extras.type, click.Choice)
    assert set(extras.type.choices) == set(get_args(Extra))
    assert set(get_args(Extra)) | {"quick"} == {"base", *project["optional-dependencies"]}
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    for extra in project["optional-dependencies"]:
        assert (CHECKOUT / "requirements" / f"{extra}.txt").is_file()
        assert f"install-{extra}" in targets
