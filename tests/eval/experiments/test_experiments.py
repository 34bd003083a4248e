"""Experiments of the papers on the project's own sample: results, run folders, repetition, and errors."""

import hashlib
import json
import os
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall, OutputNotWritten
from base.terminal.call_options import flag_of
from eval.errors import BadQrels, BadTopics
from eval.experiments.commands import experiment
from eval.experiments.experiment import experiments
from eval.experiments.recorded_results import RECORDED as RECORDED_STRATEGIES
from eval.experiments.tables.and_ablation import READINGS, joined_queries
from eval.statistics import wilson
from retriever.queries.boolean import Or, Term, describe
from retriever.query_plan import NamedQuery
from tests.fixture_model import fixture_model
from tests.http_server import Handler, serving
from tests.indexer.made_corpora import build
from tests.needs import mostly_nightly

pytest_plugins = ["tests.generator.sample_index"]

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "sample"
TOPICS, QRELS = str(SAMPLE / "topics.jsonl"), str(SAMPLE / "qrels.txt")
CLOSER, LEFT_TO_RIGHT = READINGS

RECORDED = json.loads((ROOT / "docs" / "experiments.json").read_text("utf-8"))
# Experiments with a run on the sample; those that need an encoder have tests of their own.
ON_SAMPLE = {
    name: each.sample
    for name, each in experiments().items()
    if each.sample and "encoder" not in each.requires
}
# Experiments that search for papers several times; all topics only in nightly runs.
SLOW = {"finding-agents", "finding-layers", "finding-judges", "finding-papers", "paper-qa"}
NIGHTLY = bool(os.environ.get("SHRAG_TEST_NIGHTLY"))
# Repeated only in nightly runs.
LONG = {"and-ablation", "answers", "finding-agents", "finding-judges", "finding-layers", "paper-qa"}
WITHOUT_MODEL = [name for name in ON_SAMPLE if not experiments()[name].requires]

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib


@pytest.fixture
def call(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))

    def called(*arguments):
        return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)

    return called


@pytest.fixture
def failed(call):
    def failure(error, *arguments):
        with pytest.raises(error) as raised:
            call(*arguments)
        return raised.value

    return failure


@pytest.fixture
def model(monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture
def on_sample(model, sample_home, tmp_path, monkeypatch):
    """Return the arguments of an experiment on the sample, with each `every`-th line of its first input."""

    def arguments(name, every=1, *, strategies=True):
        run, found = ON_SAMPLE[name], experiments()[name]
        if run.index != "sample":
            home = sample_home.parent / f"{sample_home.name}-{run.index}"
            if not home.exists():
                build(home, SAMPLE / run.corpus, name=run.index)
            monkeypatch.setenv("SHRAG_HOME", str(home))
        given = [name]
        for option, value in run.options_of(found.call).items():
            if option == "strategies" and not strategies:
                continue
            read = SAMPLE / value if option in found.call.files else value
            if every > 1 and option == found.call.files[0]:
                lines = read.read_text("utf-8").splitlines(keepends=True)
                read = tmp_path / f"few{read.suffix}"
                read.write_text("".join(lines[::every]), "utf-8")
            is_argument = flag_of(found.call.model_fields[option]).argument
            flag = f"--{option.replace('_', '-')}"
            given += [read] if is_argument else [flag] if read is True else [flag, read]
        return [*given, "--name", run.index]

    return arguments


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def metrics_of(folder):
    return json.loads((folder / "metrics.json").read_text())


@pytest.mark.parametrize(
    "name",
    mostly_nightly(
        ON_SAMPLE,
        by_day=ON_SAMPLE.keys()
        - {"finding-agents", "finding-layers", "finding-papers", "finding-queries", "lexical-gap"},
    ),
)
def test_an_experiment_writes_a_folder_with_its_inputs_and_a_report(call, on_sample, tmp_path, name):
    every = 6 if name in SLOW and not NIGHTLY else 1
    with_model = ["--model"] if experiments()[name].requires else []
    made = call(*on_sample(name, every, strategies=not with_model), *with_model, "--out", tmp_path / "made")
    assert made.exit_code == 0
    folder = tmp_path / "made"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    manifest = manifest_of(folder)
    inputs = {given["copied_to"] for given in manifest["inputs"].values()}
    assert inputs < files
    assert {"metrics.json", "report.md", "times.json", "topics.jsonl"} < files
    for option, given in manifest["inputs"].items():
        digest = hashlib.sha256((folder / given["copied_to"]).read_bytes()).hexdigest()
        assert digest == given["sha256"], option
    page = (folder / "report.html").read_text()
    assert "<table>" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)  # it needs no other file
    if NIGHTLY and name in WITHOUT_MODEL:  # the numbers of docs/results.md
        by_strategies = "strategies" in manifest["inputs"]
        data = f"{ON_SAMPLE[name].index}{RECORDED_STRATEGIES if by_strategies else ''}"
        assert metrics_of(folder)["main"] == pytest.approx(RECORDED[name][data])


@pytest.mark.parametrize("name", mostly_nightly(ON_SAMPLE, by_day=ON_SAMPLE.keys() - LONG))
def test_a_repetition_with_a_model_has_the_same_results(call, on_sample, tmp_path, name):
    arguments = on_sample(name, every=6, strategies=False)
    assert call(*arguments, "--model", "--out", tmp_path / "made").exit_code == 0
    repeated = call("repeat", tmp_path / "made")
    assert (repeated.exit_code, repeated.output) == (0, "no differences\n")


def test_all_questions_of_the_sample_succeed(call, tmp_path):
    call("query-success", TOPICS, QRELS, "--sample", 5, "--out", tmp_path)
    topics = [json.loads(line) for line in (tmp_path / "topics.jsonl").read_text().splitlines()]
    assert [topic["success"] for topic in topics] == [True] * 35
    assert len((tmp_path / "runs" / "progressive.trec").read_text().splitlines()) == sum(
        min(topic["union"], 15) for topic in topics
    )


@pytest.mark.nightly
def test_or_alone_finds_most_of_the_sample(call, tmp_path):
    call("and-ablation", TOPICS, QRELS, "--out", tmp_path)
    topics = [json.loads(line) for line in (tmp_path / "topics.jsonl").read_text().splitlines()]
    counts = [topic["repetitions"][0] for topic in topics]
    found = [sum(topic[CLOSER]["found"][operators] for topic in counts) for operators in range(10)]
    assert found[0] == max(found) > found[9]
    assert all(topic[CLOSER]["found"][0] == topic[LEFT_TO_RIGHT]["found"][0] for topic in counts)


def test_keywords_of_a_model_differ_between_repetitions(call, model, tmp_path):
    few = tmp_path / "topics.jsonl"
    few.write_text("".join(Path(TOPICS).read_text("utf-8").splitlines(keepends=True)[:6]), "utf-8")
    call("and-ablation", few, QRELS, "--model", "--sample", 4, "--repetitions", 3, "--out", tmp_path / "made")
    lines = (tmp_path / "made" / "topics.jsonl").read_text("utf-8").splitlines()
    repetitions = [json.loads(line)["repetitions"] for line in lines]
    assert [len(each) for each in repetitions] == [3] * 4
    assert any(first != second for first, second, _ in repetitions)
    language_model = manifest_of(tmp_path / "made")["language model"]
    assert language_model["model"] == "fixture"
    assert language_model["prompts"]["keywords.ko"] >= 1


def test_keywords_of_statistics_in_place_of_unusable_replies_are_noted(call, tmp_path, monkeypatch):
    class Nonsense(Handler):
        def post(self):
            self.answer(200, {"choices": [{"message": {"role": "assistant", "content": "no JSON"}}]})

    with serving(Nonsense) as address:
        monkeypatch.setenv("SHRAG_LLM__BASE_URL", address)
        monkeypatch.setenv("SHRAG_LLM__MODEL", "nonsense")
        made = call("query-success", TOPICS, QRELS, "--model", "--out", tmp_path)
    assert "35 of 35 topics have keywords of statistics" in made.output
    assert '"unusable_keywords": 1' in (tmp_path / "topics.jsonl").read_text()


def test_recorded_strategies_are_searched_for_and_are_an_input(call, failed, tmp_path):
    strategies = SAMPLE / "strategies.jsonl"
    arguments = ("keyword-ablation", TOPICS, QRELS, "--strategies", strategies)
    made = call(*arguments, "--out", tmp_path)
    assert manifest_of(tmp_path)["inputs"]["strategies"]["copied_to"] == "inputs/strategies.jsonl"
    assert re.search(r"one prompt for both languages +needs a model", made.stdout)
    assert re.search(r"compounds whole +\d", made.stdout)
    assert "leave out --model" in str(failed(InvalidCall, *arguments, "--model", "--out", tmp_path / "other"))


def test_a_source_is_searched_beside_the_index(call, tmp_path):
    (tmp_path / "library.toml").write_text('kind = "index"\nindex = "sample"\n')
    few = tmp_path / "topics.tsv"
    few.write_text("S01\tmethane of rice paddies\n")
    call("query-success", few, QRELS, "--source", tmp_path / "library.toml", "--out", tmp_path / "made")
    [topic] = [json.loads(line) for line in (tmp_path / "made" / "topics.jsonl").read_text().splitlines()]
    assert topic["success_live"] is topic["success"] is True


def test_a_difference_names_its_cause(call, tmp_path):
    for seed in (0, 1):
        call("and-ablation", TOPICS, QRELS, "--seed", seed, "--out", tmp_path / str(seed))
    compared = call("diff", tmp_path / "0", tmp_path / "1")
    assert compared.exit_code == 1
    first, *others = compared.output.splitlines()
    assert first == "call.seed: 0 ≠ 1"
    assert {line.partition(".")[0] for line in others} == {"metrics"}


@pytest.mark.parametrize(
    ("patched", "value", "cause"),
    [
        (
            "eval.manifest.prompt_versions",
            lambda: {"keywords.ko": 99},
            "language model.prompts.keywords.ko: ",
        ),
        ("eval.manifest.installed_version", lambda _: "0.0", "libraries.tantivy: "),
        ("eval.experiments.running.checkout_commit", lambda: "f" * 40, "commit: "),
    ],
)
def test_a_changed_prompt_or_package_is_named(call, model, tmp_path, monkeypatch, patched, value, cause):
    few = tmp_path / "topics.tsv"
    few.write_text("S01\tmethane of rice paddies\n")
    call("query-success", few, QRELS, "--model", "--out", tmp_path / "before")
    monkeypatch.setattr(patched, value)
    call("query-success", few, QRELS, "--model", "--out", tmp_path / "after")
    lines = call("diff", tmp_path / "before", tmp_path / "after").output.splitlines()
    assert any(line.startswith(cause) for line in lines)
    assert not any(line.startswith("metrics.") for line in lines)


def test_another_index_is_named_as_a_cause(call, tmp_path, monkeypatch):
    few = tmp_path / "topics.tsv"
    few.write_text("S01\tmethane of rice paddies\n")
    call("query-success", few, QRELS, "--out", tmp_path / "made")
    half = tmp_path / "papers.jsonl"
    half.write_text("".join((SAMPLE / "papers.jsonl").read_text("utf-8").splitlines(keepends=True)[60:]))
    build(tmp_path / "home", half, name="sample")
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path / "home"))
    repeated = call("repeat", tmp_path / "made")
    assert "index.papers: 120 ≠ 60" in repeated.output
    assert repeated.exit_code == 1


@pytest.mark.parametrize(
    ("operators", "reading", "words"),
    [
        (0, CLOSER, "a OR b OR c OR d"),
        (1, CLOSER, "a OR b OR (c AND d)"),
        (1, LEFT_TO_RIGHT, "(a OR b OR c) AND d"),
        (2, CLOSER, "a OR (b AND c AND d)"),
        (2, LEFT_TO_RIGHT, "(a OR b) AND c AND d"),
        (3, CLOSER, "a AND b AND c AND d"),
        (3, LEFT_TO_RIGHT, "a AND b AND c AND d"),
        (9, CLOSER, "a AND b AND c AND d"),
        (9, LEFT_TO_RIGHT, "a AND b AND c AND d"),
    ],
)
def test_the_last_keywords_are_joined_by_and(operators, reading, words):
    query = Or(tuple(Term(letter, (letter,)) for letter in "abcd"))
    [joined] = joined_queries([NamedQuery("SQ4", query, 10)], operators, reading)
    assert describe(joined.query) == words


@pytest.mark.parametrize("reading", READINGS)
def test_a_query_of_one_keyword_stays(reading):
    query = NamedQuery("SQ1", Or((Term("a", ("a",)),)), 10)
    assert joined_queries([query], 5, reading) == (query,)


@pytest.mark.parametrize(
    ("successes", "total", "interval"),
    [(88, 100, (0.8019, 0.9300)), (0, 10, (0.0, 0.2775)), (25, 25, (0.8668, 1.0))],
)
def test_the_interval_of_a_rate_is_wilsons(successes, total, interval):
    assert wilson(successes, total) == pytest.approx(interval, abs=5e-5)


def test_a_folder_with_other_files_is_left_alone(failed, tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    error = failed(InvalidCall, "query-success", TOPICS, QRELS, "--out", tmp_path)
    assert "thesis.txt" in error.what
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("manifest", [b"{}", b'{"format": 6, "name": "sample"}', b"not JSON"])
def test_a_folder_with_a_manifest_of_another_kind_is_left_alone(failed, tmp_path, manifest):
    (tmp_path / "manifest.json").write_bytes(manifest)
    assert "manifest.json" in failed(InvalidCall, "query-success", TOPICS, QRELS, "--out", tmp_path).what
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"manifest.json": manifest}


def test_results_of_another_experiment_are_left_alone(call, failed, tmp_path):
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    error = failed(InvalidCall, "and-ablation", TOPICS, QRELS, "--out", tmp_path)
    assert "contains results of query-success" in error.what


def test_an_input_in_the_output_folder_is_not_overwritten(call, failed, tmp_path):
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    topics = tmp_path / "topics.jsonl"
    before = topics.read_bytes()
    assert "topics.jsonl is in" in failed(InvalidCall, "query-success", topics, QRELS, "--out", tmp_path).what
    assert topics.read_bytes() == before


def test_inputs_may_be_pipes_and_their_content_is_in_the_manifest(call, tmp_path):
    pipe, content = tmp_path / "pipe", Path(TOPICS).read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    assert call("query-success", pipe, QRELS, "--out", tmp_path / "made").exit_code == 0
    writer.join()
    topics = manifest_of(tmp_path / "made")["inputs"]["topics"]
    digest = hashlib.sha256(content).hexdigest()
    assert topics == {"path": str(pipe), "sha256": digest, "copied_to": "inputs/topics"}


def test_a_file_in_place_of_a_folder_of_results_is_an_error(failed, call, tmp_path):
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    (tmp_path / "runs" / "progressive.trec").unlink()
    (tmp_path / "runs").rmdir()
    (tmp_path / "runs").write_text("")
    assert "runs" in failed(OutputNotWritten, "query-success", TOPICS, QRELS, "--out", tmp_path).what


def test_a_folder_that_cannot_be_made_is_an_error(failed, tmp_path):
    (tmp_path / "file").write_text("")
    failed(OutputNotWritten, "query-success", TOPICS, QRELS, "--out", tmp_path / "file" / "made")


def test_topics_without_relevant_judgements_are_left_out_and_counted(call, failed, tmp_path):
    qrels, topics = tmp_path / "qrels", tmp_path / "topics"
    topics.write_text("1\tthermal runaway\n2\tmethane of rice paddies\n3\tanything\n")
    qrels.write_text("1 0 SAMPLE-BAT-001 1\n2 0 SAMPLE-AGR-001 0\n")
    made = call("query-success", topics, qrels, "--out", tmp_path / "made")
    assert "2 topics left out" in made.stderr
    qrels.write_text("2 0 SAMPLE-AGR-001 0\n")
    failed(InvalidCall, "query-success", topics, qrels, "--out", tmp_path / "other")


@pytest.mark.parametrize("line", ["1 0 A 1 9 9\n", "1 0 A much\n"])
def test_invalid_judgements_are_named_by_file_and_line(failed, tmp_path, line):
    qrels = tmp_path / "qrels"
    qrels.write_text(line)
    raised = failed(BadQrels, "and-ablation", TOPICS, qrels, "--out", tmp_path / "made")
    assert f"{qrels}:1: " in raised.args[0]


def test_invalid_topics_are_named_by_file_and_line(failed, tmp_path):
    topics = tmp_path / "topics"
    topics.write_text("1\tbattery\none column\n")
    assert (
        f"{topics}:2: "
        in failed(BadTopics, "and-ablation", topics, QRELS, "--out", tmp_path / "made").args[0]
    )


def test_the_copies_of_the_inputs_are_repeated_from_any_folder(call, tmp_path, monkeypatch):
    topics, qrels = tmp_path / "topics.jsonl", tmp_path / "qrels.txt"
    topics.write_bytes(Path(TOPICS).read_bytes())
    qrels.write_bytes(Path(QRELS).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert call("query-success", "topics.jsonl", "qrels.txt", "--out", "made").exit_code == 0
    topics.unlink()
    qrels.unlink()
    (tmp_path / "moved").mkdir()
    made = (tmp_path / "made").rename(tmp_path / "moved" / "made")
    monkeypatch.chdir(tmp_path / "moved")
    assert call("repeat", "made").output == "no differences\n"
    (made / "inputs" / "qrels.txt").write_text("S01 0 SAMPLE-AGR-001 1\n")
    changed = call("repeat", made)
    assert changed.exit_code == 1
    assert "inputs.qrels.sha256: " in changed.output


def test_a_question_that_cannot_be_searched_is_named_by_its_topic(failed, tmp_path):
    (tmp_path / "topics").write_text("S01\t논물 관리\nS02\t" + "a" * 30_000)
    assert "S02" in str(
        failed(BadTopics, "query-success", tmp_path / "topics", QRELS, "--out", tmp_path / "x")
    )


def test_an_interrupted_experiment_resumes_with_the_same_results(call, failed, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    call("query-success", TOPICS, QRELS, "--out", whole)
    found, asked = experiments()["query-success"], []

    async def fails_at_the_tenth(given, materials, query_id, question):
        asked.append(query_id)
        if len(asked) == 10:
            raise RuntimeError
        return await found.topic(given, materials, query_id, question)

    interrupted = {"query-success": replace(found, topic=fails_at_the_tenth)}
    monkeypatch.setattr("eval.experiments.running.experiments", lambda: interrupted)
    failed(RuntimeError, "query-success", TOPICS, QRELS, "--out", parts)
    assert len((parts / "kept.jsonl").read_text().splitlines()) == 1 + 9
    assert call("query-success", TOPICS, QRELS, "--out", parts).exit_code == 0
    assert all(asked.count(query_id) == 1 for query_id in asked[:9])
    assert not (parts / "kept.jsonl").exists()
    for file in ("topics.jsonl", "runs/progressive.trec"):
        assert (parts / file).read_bytes() == (whole / file).read_bytes()


def test_an_interrupted_run_is_unfinished_until_it_is_resumed(call, failed, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("eval.experiments.folder.as_page", lambda *_: 1 / 0)
        failed(ZeroDivisionError, "query-success", TOPICS, QRELS, "--out", tmp_path)
    assert "unfinished" in failed(InvalidCall, "repeat", tmp_path).what
    assert "unfinished" in failed(InvalidCall, "diff", tmp_path, tmp_path).what
    assert call("query-success", TOPICS, QRELS, "--out", tmp_path).exit_code == 0
    assert call("repeat", tmp_path).output == "no differences\n"


def test_results_of_an_earlier_run_are_removed_and_other_files_stay(call, tmp_path, monkeypatch):
    found, runs = experiments()["query-success"], ["old"]

    async def topic(*arguments):
        result = await found.topic(*arguments)
        return replace(result, rankings=dict.fromkeys(runs, result.rankings["progressive"]))

    changed = {"query-success": replace(found, topic=topic)}
    monkeypatch.setattr("eval.experiments.running.experiments", lambda: changed)
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    (tmp_path / "runs" / "mine.trec").write_text("mine")
    runs[:] = ["new"]
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    assert {file.name for file in (tmp_path / "runs").iterdir()} == {"new.trec", "mine.trec"}


def test_topics_kept_with_other_options_are_not_mixed(call, failed, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("eval.experiments.folder.as_page", lambda *_: 1 / 0)
        failed(ZeroDivisionError, "query-success", TOPICS, QRELS, "--out", tmp_path)
    assert (
        "call.k: 15 ≠ 3"
        in failed(InvalidCall, "query-success", TOPICS, QRELS, "--out", tmp_path, "-k", 3).what
    )
    assert call("query-success", TOPICS, QRELS, "--out", tmp_path, "-k", 3, "--restart").exit_code == 0


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b'{"format": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_manifest_is_an_error(failed, tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content)
    assert "manifest.json" in failed(InvalidCall, "repeat", tmp_path).what


def test_a_folder_of_another_version_is_an_error(call, failed, tmp_path):
    call("query-success", TOPICS, QRELS, "--out", tmp_path)
    record = manifest_of(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps(record | {"format": 2}))
    assert "format 2" in failed(InvalidCall, "repeat", tmp_path).what
    (tmp_path / "manifest.json").write_text(json.dumps(record | {"experiment": "none"}))
    assert call("repeat", tmp_path).exit_code == 2
    for values in ({"k": 0}, {"cls": 1}):
        (tmp_path / "manifest.json").write_text(json.dumps(record | {"call": values}))
        failed(InvalidCall, "repeat", tmp_path)
