"""A checkout, a registry, and a bundle made of both."""

import os
import shutil
import subprocess
import sys

import pytest

from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.models import ModelSource
from tests.stack.bundle.small_bundles import GIT, small_lock, write_model


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """Return a git clone that stands for the project, with a lock of a few small wheels."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "requirements").mkdir()
    (folder / "requirements" / "base.txt").write_text(small_lock())
    (folder / "docker-compose.yml").write_text("services: {}\n")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*GIT, "-C", str(folder), *words], check=True)
    return folder


@pytest.fixture(scope="session")
def registry():
    """Skip, loudly, where no package registry can be reached; in CI that is a failure."""
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
    model = write_model(folder / "model", shards=("a.safetensors", "b.safetensors"))
    request = BundleRequest(
        folder / "out", checkout=checkout, models=(ModelSource("owner/tiny", folder=model),)
    )
    make_bundle(request)
    return folder / "out"


@pytest.fixture
def bundle(whole, tmp_path):
    """Return a copy of it, to break."""
    shutil.copytree(whole, tmp_path / "bundle")
    return tmp_path / "bundle"
