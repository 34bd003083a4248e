"""`shrag demo`, in this checkout and from a wheel in another folder."""

import subprocess
import sys
import zipfile

import pytest

from base.errors import InvalidCall
from indexer.settings import IndexerSettings
from stack.demonstration import check_replaceable
from tests.indexer.made_corpora import ROOT, build, environment_of

pytest_plugins = ["tests.generator.sample_index"]


def test_an_index_of_the_sample_may_be_replaced_and_none_of_other_papers(sample_home, tmp_path):
    for name in ("sample", "another"):
        check_replaceable(name, IndexerSettings(home=sample_home))
    build(tmp_path, ROOT / "sample" / "held-out" / "papers.jsonl", name="sample")
    with pytest.raises(InvalidCall, match="'sample'"):
        check_replaceable("sample", IndexerSettings(home=tmp_path))


@pytest.mark.slow
def test_the_demonstration_runs_from_a_wheel(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    subprocess.run([*command, "-w", tmp_path, ROOT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("shrag-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    environment = environment_of(tmp_path / "home") | {"PYTHONPATH": str(tmp_path / "installed")}
    run = [sys.executable, "-c", "import shrag; print(shrag.__file__); shrag.main()", "demo"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "installed"))
    assert "SAMPLE-EDU-004" in done.stdout
