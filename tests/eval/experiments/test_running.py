"""The folder of an experiment: resumption, differences, and errors of inputs and folders."""

from dataclasses import replace

import pytest

from base.errors import InvalidCall, OutputNotWritten
from eval.errors import BadTopics, NothingJudged
from eval.experiments import load_experiment
from tests.eval.experiments.calling import QRELS, SAMPLE, TOPICS, call, read_lines, topics_of

pytestmark = [
    pytest.mark.needs_libraries,  # matplotlib
    pytest.mark.slow,
    pytest.mark.usefixtures("on_sample"),
]
SUCCESS = ("query-success", TOPICS, QRELS, "--out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, sample_home):
    """Return a folder of results, which tests copy."""
    folder = tmp_path_factory.mktemp("finished") / "made"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHRAG_HOME", str(sample_home))
        assert call(*SUCCESS, folder).exit_code == 0
    return folder


def failure(error, *arguments):
    with pytest.raises(error) as raised:
        call(*arguments)
    return str(raised.value)


def test_an_interrupted_experiment_resumes_with_the_same_results(finished, tmp_path, monkeypatch):
    found, asked = load_experiment("query-success").topic, []

    async def fails_at_the_tenth(topic):
        asked.append(topic.query_id)
        if len(asked) == 10:
            raise RuntimeError
        return await found(topic)

    changed = replace(load_experiment("query-success"), topic=fails_at_the_tenth)
    monkeypatch.setattr("eval.experiments.running.load_experiment", lambda _: changed)
    failure(RuntimeError, *SUCCESS, tmp_path)
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 1 + 9
    assert "interrupted" in failure(InvalidCall, "diff", tmp_path, tmp_path)
    assert "call.k: 15 ≠ 3" in failure(InvalidCall, *SUCCESS, tmp_path, "-k", 3)
    assert call(*SUCCESS, tmp_path).exit_code == 0
    assert all(asked.count(query_id) == 1 for query_id in asked[:9])
    assert not (tmp_path / "kept.jsonl").exists()
    asked_for = [topic["query_id"] for topic in read_lines(SAMPLE / "topics.jsonl")]
    assert list(topics_of(tmp_path)) == asked_for[:35]
    for file in ("topics.jsonl", "runs/progressive.trec", "metrics.json"):
        assert (tmp_path / file).read_bytes() == (finished / file).read_bytes()
    assert call(*SUCCESS, tmp_path, "-k", 3, "--restart").exit_code == 0
    compared = call("diff", finished, tmp_path)
    assert (compared.exit_code, compared.output.splitlines()[0]) == (1, "call.k: 15 ≠ 3")
    assert call("diff", finished, finished).exit_code == 0


@pytest.mark.parametrize(
    ("topics", "qrels", "error", "part"),
    [
        ("q1\tbattery\nq2\t" + "a" * 30_000, "q2 0 SAMPLE-BAT-001 1\n", BadTopics, "q2"),
        ("q1\tbattery\n", "q1 0 SAMPLE-BAT-001 0\n", InvalidCall, "has a relevant judgement"),
        ("q1\tbattery\n", "7 0 SAMPLE-BAT-001 1\n", InvalidCall, "(7, …)"),
        ("q1\tbattery\n", "q1 0 1234 1\n", NothingJudged, "no relevant id (1234, …)"),
    ],
)
def test_inputs_that_cannot_be_used_are_named(tmp_path, topics, qrels, error, part):
    (tmp_path / "topics").write_text(topics)
    (tmp_path / "qrels").write_text(qrels)
    given = ("query-success", tmp_path / "topics", tmp_path / "qrels", "--out", tmp_path / "made")
    assert part in failure(error, *given)


def test_folders_with_other_files_or_results_are_left_alone(finished, tmp_path):
    for name, content in (
        ("thesis.txt", "all my work"),
        ("manifest.json", '{"format": 6, "name": "sample"}'),
        ("manifest.json", "[" * 100_000),
    ):
        folder = tmp_path / str(len(content))
        folder.mkdir()
        (folder / name).write_text(content)
        assert name in failure(InvalidCall, *SUCCESS, folder)
        assert {each.name: each.read_text() for each in folder.iterdir()} == {name: content}
        failure(InvalidCall, "diff", folder, finished)
    failure(OutputNotWritten, *SUCCESS, tmp_path / str(len("all my work")) / "thesis.txt" / "made")
    assert "contains manifest.json of query-success" in failure(InvalidCall, "hops", *SUCCESS[1:], finished)
    inside = ("query-success", finished / "topics.jsonl", QRELS, "--out", finished)
    assert "topics.jsonl is in" in failure(InvalidCall, *inside)
    given = (*SUCCESS, tmp_path / "new", "--strategies", SAMPLE / "strategies.jsonl", "--model")
    assert "recorded strategies replace a language model" in failure(InvalidCall, *given)
