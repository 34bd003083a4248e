"""Bundles that were broken off, and gone on with."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from filelock import FileLock

from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import files_below
from stack.bundle.models import ModelSource
from stack.bundle.source import CHECKOUT
from stack.bundle.verifying import verify_bundle
from stack.errors import BundleBusy, BundleCallError, BundleIncomplete
from tests.http_server import Handler, serving
from tests.stack.bundle.small_bundles import GIT, write_model


@pytest.mark.nightly
def test_a_killed_bundle_goes_on_with_its_lock_s_wheels_and_fetches_none_again(checkout, registry, tmp_path):
    model = write_model(tmp_path / "model")
    (model / "model.safetensors").write_bytes(os.urandom(1 << 20))
    code = (
        "import sys, pathlib\n"
        "from stack.bundle.making import BundleRequest, make_bundle\n"
        "from stack.bundle.models import ModelSource\n"
        "import stack.bundle.making as making\n"
        "def stop(*_):\n    print('models', flush=True)\n    import time\n    time.sleep(600)\n"
        "out, checkout, model = map(pathlib.Path, sys.argv[1:])\n"
        "making.collect_model = stop\n"
        "make_bundle(BundleRequest(out, checkout=checkout, models=(ModelSource('o/m', folder=model),)))\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "out"), str(checkout), str(model)]
    process = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "models\n"
        process.kill()
    partial = tmp_path / "out.partial"
    fetched = {path.name: path.stat().st_mtime_ns for path in (partial / "wheels").iterdir()}
    assert fetched
    assert not (tmp_path / "out").exists()
    (partial / "wheels" / "of_an_older_lock-1.0-py3-none-any.whl").write_bytes(b"PK")
    half = partial / "models/o/m/model.safetensors"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")

    request = BundleRequest(tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", folder=model),))
    make_bundle(request)
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out" / "wheels").iterdir()}
    assert now == fetched
    assert not partial.exists()
    assert verify_bundle(tmp_path / "out").faults == ()


def test_one_that_was_begun_with_other_options_is_not_mixed(checkout, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "plan.json").write_text("{}")
    with pytest.raises(BundleCallError, match="other options"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_bundle_that_goes_on_has_the_source_and_the_models_of_now(checkout, tmp_path, monkeypatch):
    clone, model = tmp_path / "clone", write_model(tmp_path / "model")
    shutil.copytree(checkout, clone)
    (model / "old.json").write_text("{}")
    request = BundleRequest(
        tmp_path / "out",
        checkout=clone,
        models=(ModelSource("o/m", folder=model), ModelSource("o/n", folder=tmp_path / "later")),
    )
    monkeypatch.setattr("stack.bundle.making.collect_wheels", lambda *_: "")
    with pytest.raises(BundleIncomplete, match="later"):
        make_bundle(request)
    (model / "old.json").unlink()
    write_model(tmp_path / "later")
    for words in (["mv", "docker-compose.yml", "new.yml"], ["commit", "--quiet", "-m", "second"]):
        subprocess.run([*GIT, "-C", str(clone), *words], check=True)
    make_bundle(request)
    paths = set(files_below(tmp_path / "out"))
    assert {path for path in paths if path.startswith("source/")} == {
        "source/new.yml",
        "source/requirements/base.txt",
    }
    assert "models/o/m/config.json" in paths
    assert "models/o/m/old.json" not in paths
    assert not (tmp_path / "out" / "plan.json").exists()


@contextmanager
def model_hub(known):
    """Run a hub that knows each model by the commit `known["sha"]`."""

    class Knows(Handler):
        def get(self):
            self.answer(200, {"id": "o/m"} | known)

    with serving(Knows) as url:
        yield url


@pytest.mark.needs_libraries
def test_a_branch_of_the_hub_that_has_moved_is_not_mixed(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # so that the first is broken off
    request = BundleRequest(
        tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", revision="main"),)
    )
    known = {"sha": "1" * 40}
    with model_hub(known) as address:
        monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", address)
        with pytest.raises(BundleIncomplete, match="wheels"):
            make_bundle(request)
        plan = json.loads((tmp_path / "out.partial" / "plan.json").read_text("utf-8"))
        assert plan["models"] == [{"name": "o/m", "revision": "1" * 40, "folder": None}]
        known["sha"] = "2" * 40
        with pytest.raises(BundleCallError, match="other options"):
            make_bundle(request)


def test_two_at_once_are_one_too_many(checkout, tmp_path):
    with FileLock(tmp_path / ".out.lock"), pytest.raises(BundleBusy):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_one_that_another_process_has_made_meanwhile_is_left_as_it_is(checkout, tmp_path, monkeypatch):
    """The other ends between the look at the folder and the lock."""
    real = FileLock.acquire

    def acquire(self, *arguments, **options):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "bundle.json").write_text("{}")
        return real(self, *arguments, **options)

    monkeypatch.setattr(FileLock, "acquire", acquire)
    with pytest.raises(BundleCallError, match="exists already"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert not (tmp_path / "out.partial").exists()


def test_a_lock_that_is_waited_for_stays_the_same_file(checkout, tmp_path, monkeypatch):
    """A file that was opened before it is removed, and locked after, keeps nobody out."""
    monkeypatch.setattr("stack.bundle.making.collect_wheels", lambda *_: "")
    with (tmp_path / ".out.lock").open("w") as opened:
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
        assert os.path.samestat(os.fstat(opened.fileno()), (tmp_path / ".out.lock").stat())


def test_a_lock_that_cannot_be_had_keeps_what_is_there(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(BundleIncomplete, match=r"wheels of base\.txt: ERROR"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert (tmp_path / "out.partial" / "source" / "docker-compose.yml").is_file()
