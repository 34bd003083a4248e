"""The experiment that compares encoders, with tiny models of the real classes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall
from eval.experiments.commands import experiment

pytest_plugins = ["tests.generator.sample_index"]
pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]

SAMPLE = Path(__file__).resolve().parents[3] / "sample"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_bert, tiny_gte

    return tiny_gte(tmp_path_factory.mktemp("gte")), tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def call(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    few = tmp_path / "topics.jsonl"
    lines = (SAMPLE / "topics.jsonl").read_text("utf-8").splitlines(keepends=True)
    few.write_text("".join(lines[:5]), "utf-8")

    def called(*options):
        arguments = ["encoders", few, SAMPLE / "qrels.txt", "--out", tmp_path / "made", *options]
        return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)

    return called


@pytest.mark.nightly
def test_each_encoder_orders_the_union_of_a_topic(call, models, tmp_path):
    gte, bert = map(str, models)
    assert call("--encoder", f"{gte},{bert}", "-k", 3).exit_code == 0
    topics = [json.loads(line) for line in (tmp_path / "made" / "topics.jsonl").read_text().splitlines()]
    assert len(topics) == 5
    for topic in topics:
        by_encoder = topic["encoders"]
        assert set(by_encoder) == {gte, bert, "fusion, no encoder"}
        assert -1 <= by_encoder[bert]["relevant"] <= 1
        assert by_encoder[gte]["longest"] > 128  # the tiny model reads 128 tokens
        assert by_encoder[gte]["cut"] > 0
    runs = [path.read_text().splitlines() for path in (tmp_path / "made" / "runs").iterdir()]
    assert [len(lines) for lines in runs] == [15, 15, 15]


def test_a_repetition_has_the_same_cosines(call, models, tmp_path):
    call("--encoder", models[1])
    repeated = CliRunner().invoke(experiment, ["repeat", str(tmp_path / "made")])
    assert (repeated.exit_code, repeated.output) == (0, "no differences\n")


def test_without_an_encoder_the_error_names_the_option(call):
    with pytest.raises(InvalidCall, match="--encoder"):
        call()
