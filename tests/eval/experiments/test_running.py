"""The folder of an experiment: resumption, differences, and errors of inputs and folders."""

import json
import shutil
from dataclasses import replace

import pytest

from base.errors import InvalidCall, OutputNotWritten
from eval.errors import BadQrels, BadTopics, NothingJudged
from eval.experiments import load_experiment
from tests import fixture_model
from tests.eval.experiments.calling import QRELS, SAMPLE, TOPICS, call, read, read_lines, topics_of

pytest_plugins = ["tests.generator.sample_index"]
pytestmark = [
    pytest.mark.needs_libraries,  # matplotlib
    pytest.mark.slow,
    pytest.mark.usefixtures("on_sample"),
]
SUCCESS = ("query-success", TOPICS, QRELS, "--out")


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("S01\tmethane of rice paddies\n")
    return ("query-success", path, QRELS, "--out")


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


def patched(monkeypatch, **parts):
    """Let the experiment query-success have other functions."""
    changed = replace(load_experiment("query-success"), **parts)
    monkeypatch.setattr("eval.experiments.running.load_experiment", lambda _: changed)


def test_an_interrupted_experiment_resumes_with_the_same_results(finished, tmp_path, monkeypatch):
    found, asked = load_experiment("query-success").topic, []

    async def fails_at_the_tenth(topic):
        asked.append(topic.query_id)
        if len(asked) == 10:
            raise RuntimeError
        return await found(topic)

    patched(monkeypatch, topic=fails_at_the_tenth)
    failure(RuntimeError, *SUCCESS, tmp_path)
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 1 + 9
    assert "unfinished" in failure(InvalidCall, "diff", tmp_path, tmp_path)
    assert "call.k: 15 ≠ 3" in failure(InvalidCall, *SUCCESS, tmp_path, "-k", 3)
    assert call(*SUCCESS, tmp_path).exit_code == 0
    assert all(asked.count(query_id) == 1 for query_id in asked[:9])
    assert not (tmp_path / "kept.jsonl").exists()
    assert (
        list(topics_of(tmp_path)) == [topic["query_id"] for topic in read_lines(SAMPLE / "topics.jsonl")][:35]
    )
    for file in ("topics.jsonl", "runs/progressive.trec", "metrics.json"):
        assert (tmp_path / file).read_bytes() == (finished / file).read_bytes()
    assert call(*SUCCESS, tmp_path, "-k", 3, "--restart").exit_code == 0


def test_a_difference_names_its_cause(few, tmp_path):
    for k in (15, 1):
        call(*few, tmp_path / str(k), "-k", k)
    compared = call("diff", tmp_path / "15", tmp_path / "1")
    assert compared.exit_code == 1
    first, *others = compared.output.splitlines()
    assert first == "call.k: 15 ≠ 1"
    assert {line.partition(".")[0] for line in others} == {"metrics"}
    assert call("diff", tmp_path / "1", tmp_path / "1").exit_code == 0


def test_files_of_an_earlier_run_are_removed_and_other_files_stay(few, tmp_path, monkeypatch):
    found, runs = load_experiment("query-success").topic, ["old"]

    async def topic(given):
        result = await found(given)
        return replace(result, rankings=dict.fromkeys(runs, result.rankings["progressive"]))

    patched(monkeypatch, topic=topic)
    call(*few, tmp_path / "made")
    (tmp_path / "made" / "runs" / "mine.trec").write_text("mine")
    runs[:] = ["new"]
    call(*few, tmp_path / "made")
    assert {file.name for file in (tmp_path / "made" / "runs").iterdir()} == {"new.trec", "mine.trec"}


@pytest.mark.parametrize(
    ("topics", "qrels", "error", "part"),
    [
        ("q1\tbattery\none column\n", "q1 0 SAMPLE-BAT-001 1\n", BadTopics, "topics:2: "),
        ("q1\tbattery\nq2\t" + "a" * 30_000, "q2 0 SAMPLE-BAT-001 1\n", BadTopics, "q2"),
        ("q1\tbattery\n", "q1 0 A 1 9 9\n", BadQrels, "qrels:1: "),
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


@pytest.mark.parametrize(
    ("topics", "qrels", "notes"),
    [
        (["q1"], ["q1 0 SAMPLE-BAT-001 1", "q1 0 NOWHERE 0"], []),
        (
            ["q1"],
            ["q1 0 SAMPLE-BAT-001 1", "q1 0 NOWHERE 1"],
            ["1 relevant id of 2 not in"],
        ),
        (["q1", "q2"], ["q1 0 SAMPLE-BAT-001 1"], ["1 topic left out: no relevant judgement"]),
        (["q1"], ["q1 0 SAMPLE-BAT-001 1", "q3 0 A 1"], ["1 judged question not among the topics (q3"]),
        (["q1"], ["q1 0 SAMPLE-BAT-001@en 1", "q1 0 SAMPLE-BAT-001#2 2"], ["The qrels judge passages"]),
    ],
)
def test_judgements_that_do_not_fit_are_noted(tmp_path, topics, qrels, notes):
    (tmp_path / "topics").write_text("".join(f"{query_id}\tbattery\n" for query_id in topics))
    (tmp_path / "qrels").write_text("\n".join(qrels) + "\n")
    made = call("query-success", tmp_path / "topics", tmp_path / "qrels", "--out", tmp_path / "made")
    found = [line for line in made.stderr.splitlines() if line.startswith("note: ")][2:]
    assert len(found) == len(notes)
    assert all(note in line for note, line in zip(notes, found, strict=True))


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
    assert "contains results of query-success" in failure(InvalidCall, "hops", *SUCCESS[1:], finished)
    inside = ("query-success", finished / "topics.jsonl", QRELS, "--out", finished)
    assert "topics.jsonl is in" in failure(InvalidCall, *inside)
    given = (*SUCCESS, tmp_path / "new", "--strategies", SAMPLE / "strategies.jsonl", "--model")
    assert "recorded strategies replace a language model" in failure(InvalidCall, *given)


def test_a_manifest_of_another_version_is_an_error(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "made")
    path = tmp_path / "made" / "manifest.json"
    path.write_text(json.dumps(read(path) | {"format": 2}))
    assert "format 2" in failure(InvalidCall, "diff", finished, path.parent)


def test_changed_prompts_and_packages_and_unusable_replies_are_named(few, model, tmp_path, monkeypatch):
    call(*few, tmp_path / "before", "--model")
    monkeypatch.setattr("eval.manifest.prompt_versions", lambda: {"keywords.ko": 99})
    monkeypatch.setattr("eval.manifest.installed_version", lambda _: "0.0")
    monkeypatch.setattr("eval.experiments.running.checkout_commit", lambda: "f" * 40)
    call(*few, tmp_path / "after", "--model")
    lines = call("diff", tmp_path / "before", tmp_path / "after").output.splitlines()
    for cause in ("language model.prompts.", "libraries.tantivy: ", "commit: "):
        assert any(line.startswith(cause) for line in lines)
    assert not any(line.startswith("metrics.") for line in lines)
    monkeypatch.setitem(fixture_model.ANSWERS, "keywords", lambda *_: {})
    made = call(*few, tmp_path / "made", "--model")
    assert "1 of 1 topics have keywords of statistics" in made.output
    assert '"unusable_keywords": 1' in (tmp_path / "made" / "topics.jsonl").read_text()
