"""Bundles of a small checkout with real wheels, a tiny model and images of a program in place of docker."""

import os
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest

from base.errors import InvalidCall
from stack.bundle import (
    CHECKOUT,
    BundleDamaged,
    BundleIncomplete,
    ModelSource,
    images_of,
    make_bundle,
    parse_model,
    verify_bundle,
)
from stack.commands import EXTRAS

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


def write_model(folder):
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", ".env", "model.safetensors"):
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
    make_bundle(folder / "out", checkout=checkout, models=(model,))
    return folder / "out"


@pytest.fixture
def without_wheels(monkeypatch):
    monkeypatch.setattr("stack.bundle.PIP", ("true",))


def test_a_bundle_holds_what_was_requested_and_is_verified(whole, checkout):
    verified = verify_bundle(whole)
    paths = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}

    assert verified.faults == []
    assert verified.manifest.commit == (checkout / ".git/refs/heads/main").read_text().strip()
    assert verified.manifest.models == {"owner/tiny": ""}
    assert {"source/requirements/base.txt", "models/owner/tiny/model.safetensors"} <= paths
    assert "models/owner/tiny/.env" not in paths  # may contain keys
    assert {path.split("/")[1].partition("-")[0] for path in paths if path.endswith(".whl")} >= {"click"}
    assert verified.manifest.files == len(paths) - 2  # the manifest and the hashes
    assert any("make install PYTHON=" in command for command in verified.commands)
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=whole, check=False).returncode == 0
    with pytest.raises(InvalidCall, match="exists already"):
        make_bundle(whole, checkout=checkout)


def test_the_faults_of_a_bundle_are_named(whole, tmp_path):
    folder = Path(shutil.copytree(whole, tmp_path / "bundle"))
    (folder / "models/owner/tiny/model.safetensors").unlink()
    (folder / "source/requirements/base.txt").write_text("click==0.0 --hash=sha256:" + "0" * 64)
    (folder / "source/new").write_text("x")
    with (folder / "SHA256SUMS").open("a") as sums:
        sums.write("damaged\n0  source\n0  ../x\n")
    verified = verify_bundle(folder)
    faults = "\n".join(verified.faults)
    for fault in ("model.safetensors: is missing", "is damaged", "source/new: does not"):
        assert fault in faults
    assert {": is missing", "source: is missing", "../x: is missing"} < {*verified.faults}
    assert "wheels of base: ERROR" in faults
    for content in ("{", "{}"):
        (folder / "bundle.json").write_text(content)
        with pytest.raises(BundleDamaged):
            verify_bundle(folder)


def test_a_model_without_weights_ends_the_bundle_which_resumes(checkout, tmp_path, without_wheels):
    weights = (model := write_model(tmp_path / "model")) / "model.safetensors"
    weights.rename(tmp_path / weights.name)
    source = ModelSource("o/m", folder=model)
    request = partial(make_bundle, tmp_path / "out", checkout=checkout, models=(source,))
    with pytest.raises(BundleIncomplete, match="o/m: it has no weights"):
        request()
    (tmp_path / weights.name).rename(weights)
    request()
    assert (tmp_path / "out/source/requirements/base.txt").is_file()


def engine(folder, monkeypatch, text):
    """Put a program called docker on the path, and nothing else that saves images."""
    folder.mkdir()
    (folder / "docker").write_text(text)
    (folder / "docker").chmod(0o755)
    for name in ("git", "sh", "true"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))


def test_images_are_saved_with_the_digest_of_their_registry_by_an_engine_that_works(
    checkout, tmp_path, monkeypatch, without_wheels
):
    images = ("some/image:1", "some_image:1")
    request = partial(make_bundle, checkout=checkout, images=images)
    failing = DOCKER.replace("image)", "pull) echo toomanyrequests >&2; exit 1 ;;\nimage)")
    engine(tmp_path / "failing", monkeypatch, failing)
    with pytest.raises(BundleIncomplete, match="toomanyrequests"):
        request(tmp_path / "out")
    engine(tmp_path / "without", monkeypatch, "#!/bin/sh\nexit 1\n")
    with pytest.raises(BundleIncomplete, match="works here"):
        request(tmp_path / "out")

    engine(tmp_path / "bin", monkeypatch, DOCKER)
    interrupted = tmp_path / "out.partial/images/some%2Fimage%3A1.tar"  # which podman does not replace
    interrupted.parent.mkdir(parents=True, exist_ok=True)
    interrupted.touch()
    manifest = request(tmp_path / "out")
    assert manifest.images == dict.fromkeys(images, "sha256:1111")
    assert (tmp_path / "out/images/some%2Fimage%3A1.tar").read_text() == "archive\n"


@pytest.mark.parametrize("text", ["o/m", "o/m@", "m@1", "/nowhere=o/m", ".o/m@1"])
def test_a_model_is_named_with_its_revision_or_folder(tmp_path, text):
    with pytest.raises(InvalidCall, match="OWNER/NAME@REVISION"):
        parse_model(text)
    assert parse_model("o/m@1") == ModelSource("o/m", "1")
    assert parse_model(f"{tmp_path}=o/m") == ModelSource("o/m", folder=tmp_path)


def test_calls_that_cannot_work_are_refused_and_images_of_the_compose_file_are_known(checkout, tmp_path):
    twice = (ModelSource("o/m", "1"), ModelSource("o/m", "2"))
    for out, given in (("no/out", {}), ("out", {"models": twice}), ("out", {"checkout": tmp_path})):
        with pytest.raises(InvalidCall):
            make_bundle(tmp_path / out, **{"checkout": checkout} | given)
    images = images_of((CHECKOUT / "docker-compose.yml").read_text("utf-8"))
    assert any(image.startswith("vllm/vllm-openai:") for image in images)
    assert len(images) == len(set(images))


def test_every_extra_has_a_lock_a_target_of_make_and_a_choice_in_the_command():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    assert {*EXTRAS, "quick"} == {"base", *project["optional-dependencies"]}
    for extra in project["optional-dependencies"]:
        assert (CHECKOUT / "requirements" / f"{extra}.txt").is_file()
        assert f"\ninstall-{extra}:" in makefile
