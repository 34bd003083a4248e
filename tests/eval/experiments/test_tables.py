"""Each experiment of the papers on the sample: its metrics, published values, runs and report."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from base.terminal.call_options import flag_of
from eval.experiments import EXPERIMENTS, load_experiment
from tests.eval.experiments.calling import SAMPLE, call, read
from tests.indexer.made_corpora import build
from tests.needs import mostly_nightly
from tools.experiments import RECORDED, RESULTS

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib

ALL = {name: load_experiment(name) for name in EXPERIMENTS}
ON_SAMPLE = {name: each.sample for name, each in ALL.items() if each.sample and not each.requires}
# Experiments that search for papers several times: each sixth topic, all topics only in nightly runs.
SLOW = {"finding-agents", "finding-layers", "finding-judges", "finding-papers", "paper-qa"}
NIGHTLY = bool(os.environ.get("SHRAG_TEST_NIGHTLY"))


@pytest.fixture
def arguments(on_sample, sample_home, tmp_path, monkeypatch):
    """Return the arguments of an experiment on the sample, with each `every`-th line of its first input."""

    def arguments_of(name, every, *, strategies=True):
        run, offered = ON_SAMPLE[name], ALL[name].call
        if run.index != "sample":
            home = sample_home.parent / f"{sample_home.name}-{run.index}"
            if not home.exists():
                build(home, SAMPLE / run.corpus, name=run.index)
            monkeypatch.setenv("SHRAG_HOME", str(home))
        given = [name, "--name", run.index]
        for option, value in run.options_of(offered).items():
            if option == "strategies" and not strategies:
                continue
            path = SAMPLE / value if option in offered.files() else value
            if every > 1 and option == offered.files()[0]:
                lines = path.read_text("utf-8").splitlines(keepends=True)
                path = tmp_path / f"few{path.suffix}"
                path.write_text("".join(lines[::every]), "utf-8")
            flag = f"--{option.replace('_', '-')}"
            is_argument = flag_of(offered.model_fields[option]).argument
            given += [path] if is_argument else [flag] if path is True else [flag, path]
        return given

    return arguments_of


@pytest.mark.parametrize(
    "name", mostly_nightly(ON_SAMPLE, by_day=ON_SAMPLE.keys() - {"finding-agents", "finding-judges"})
)
def test_a_table_has_its_recorded_metrics_and_the_published_values(arguments, tmp_path, name):
    every = 6 if name in SLOW and not NIGHTLY else 1
    folder = tmp_path / "made"
    made = call(*arguments(name, every), "--out", folder)
    assert made.exit_code == 0
    manifest, metrics = read(folder / "manifest.json"), read(folder / "metrics.json")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {*manifest["files"], "manifest.json"}
    for option, given in manifest["inputs"].items():
        assert hashlib.sha256(Path(given["path"]).read_bytes()).hexdigest() == given["sha256"], option
    data = ON_SAMPLE[name].index + (RECORDED if "strategies" in manifest["inputs"] else "")
    recorded = read(RESULTS)[name][data]
    assert metrics["main"].keys() == recorded.keys()
    if every == 1:
        assert metrics["main"] == pytest.approx(recorded)
    report, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for title in metrics["tables"]:
        assert f"## {title}" in report
        assert title in made.stdout
    for label, value in ALL[name].published.items():
        values = (f"{value:,.4f}" if value <= 1 else f"{value:,.2f}", f"{value:g}")
        assert any(each in report for each in values), label
    assert page.count("<table>") == len(metrics["tables"])
    assert page.count("<svg") == len([each for each in files if each.endswith(".svg")])
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)  # it needs no other file


@pytest.mark.parametrize(
    "name",
    mostly_nightly(ON_SAMPLE, by_day={"keyword-ablation", "exclusions", "challenge", "judging-papers"}),
)
def test_a_repetition_with_a_model_has_the_same_results(arguments, model, tmp_path, name):
    given = arguments(name, 6, strategies=False)
    for folder in ("made", "again"):
        assert call(*given, "--model", "--out", tmp_path / folder).exit_code == 0
    compared = call("diff", tmp_path / "made", tmp_path / "again")
    assert (compared.exit_code, compared.output) == (0, "no differences\n")
