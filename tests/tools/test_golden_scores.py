"""Methods and answers score what is recorded in tests/golden/scores.jsonl.

After a change that is meant to change them: python -m tools.golden --home DIR --renew
"""

import json

import pytest
from click.testing import CliRunner

from base.progress import no_progress
from tests.conftest import SHARED
from tests.needs import mostly_nightly
from tools import bench as settings
from tools.bench import TUNED, Bench
from tools.collections import (
    COLLECTIONS,
    CROSSING,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    questions,
    read_lines,
    recorded_strategies,
)
from tools.golden import EVERY, RECORDED, find_drift, main, ranking_rows

OWN = {collection.name: collection for collection in (OF_SAMPLE, HELD_OUT)}
BY_NAME = OWN | {collection.name: collection for collection in (*TRAINING, CROSSING, *COLLECTIONS)}
SHARED_NAMES = [collection.name for collection in COLLECTIONS]
DATA = SHARED / "data"


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """Keep the collections' indexes of the session; each is built when it is first opened."""
    return Bench(tmp_path_factory.mktemp("collections"), DATA, no_progress)


def assert_as_recorded(measured):
    drift = find_drift(read_lines(RECORDED), measured)
    assert not drift, "\n".join(drift)


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", mostly_nightly(SHARED_NAMES, by_day={"tydi-ko", "hotpotqa-100"}))
def test_methods_rank_a_shared_collection_as_recorded(bench, shared_data, name, every):
    assert_as_recorded(ranking_rows(bench, shared_data, "tantivy", BY_NAME[name], every=every))


@pytest.mark.parametrize("name", mostly_nightly((each.name for each in TRAINING), by_day={"cacm"}))
def test_methods_rank_a_training_collection_as_recorded(bench, shared_data, name):
    folder = shared_data / "training" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not present")

    assert_as_recorded(ranking_rows(bench, shared_data, "tantivy", BY_NAME[name]))


@pytest.mark.slow
def test_the_sample_and_the_held_out_questions_score_as_recorded_until_a_figure_drifts(tmp_path):
    scores = tmp_path / "scores.jsonl"
    of_sample, *others = RECORDED.read_text("utf-8").splitlines()
    drifted = json.dumps(json.loads(of_sample) | {"nDCG@10": 0.1234})
    scores.write_text("\n".join([drifted, *others]), "utf-8")
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--scores", scores]

    first, renewing = (CliRunner().invoke(main, [*map(str, arguments), *more]) for more in ([], ["--renew"]))

    assert (first.exit_code, renewing.exit_code) == (1, 0)
    assert ", 1 figures differ" in first.stdout, first.stdout
    assert " 0.1234 " in first.stdout
    assert ": tydi-ko, tydi-en, scifact" in first.stderr
    assert_as_recorded(read_lines(scores))


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_scores_are_the_same_for_ten_hits_and_two_hundred(bench, monkeypatch, name):
    topics, _ = questions(DATA, OWN[name], "dev")
    strategies, runs = recorded_strategies(DATA, OWN[name]), []
    with bench.open(OWN[name]) as index:
        for depth in (10, 200):
            monkeypatch.setattr(settings, "DEPTH", depth)
            runs.append(bench.rank(index, topics, TUNED, strategies=strategies))
    assert runs[0] == {key: ranking[:10] for key, ranking in runs[1].items()}
