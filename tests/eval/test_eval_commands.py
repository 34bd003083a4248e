"""The commands, from an index of the project's own sample to scores."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall, UnknownPath
from eval.commands import evaluate
from eval.errors import BadMeasure, BadTopics
from generator.errors import ModelNotConfigured
from retriever.errors import BadFilter
from retriever.methods import method_names
from tests.http_server import Handler, serving
from tests.indexer.made_corpora import command, environment_of

pytest_plugins = ["tests.generator.sample_index"]

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


@pytest.fixture
def call(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))

    def invoke(*arguments):
        return CliRunner().invoke(evaluate, [str(argument) for argument in arguments], catch_exceptions=True)

    return invoke


@pytest.fixture
def sample_run(call, tmp_path):
    out = tmp_path / "or.trec"
    result = call("run", SAMPLE / "topics.jsonl", "--name", "sample", "--method", "or", "--out", out)
    assert result.exit_code == 0, result.output
    return out


def write_lines(path, *lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("method", [method for method in method_names() if method != "dense"])
def test_a_run_holds_papers_of_every_question(call, tmp_path, method):
    topics = write_lines(tmp_path / "topics.tsv", "q1\tmethane rice", "q2\t간호사 이직")
    out = tmp_path / "run.trec"

    result = call("run", topics, "--name", "sample", "--method", method, "-k", 5, "--out", out, "--json")

    assert result.exit_code == 0, result.output
    lines = [line.split(" ") for line in out.read_text().splitlines()]
    assert {line[0] for line in lines} == {"q1", "q2"}
    assert all(line[2].startswith("SAMPLE-") and "@" not in line[2] for line in lines)
    assert json.loads(result.stdout)["hits"] == len(lines) <= 10


def test_the_unit_can_be_changed_to_passages(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\tmethane emission from rice paddies")

    call("run", topics, "--name", "sample", "--method", "or", "--unit", "passage", "--out", tmp_path / "run")

    assert any("@" in line.split()[2] for line in (tmp_path / "run").read_text().splitlines())


def test_two_runs_of_the_same_are_byte_equal_and_their_manifests_differ_in_time_only(
    call, sample_run, tmp_path
):
    again = tmp_path / "again" / "or.trec"
    again.parent.mkdir()
    call("run", SAMPLE / "topics.jsonl", "--name", "sample", "--method", "or", "--out", again)

    assert sample_run.read_bytes() == again.read_bytes()
    first, second = (
        json.loads(path.with_name("or.trec.manifest.json").read_text(encoding="utf-8"))
        for path in (sample_run, again)
    )
    for manifest in (first, second):
        del manifest["started"], manifest["seconds"], manifest["run"]["path"]
    assert first == second


def test_the_manifest_says_what_the_run_was_made_with(sample_run):
    manifest = json.loads(sample_run.with_name("or.trec.manifest.json").read_text(encoding="utf-8"))

    assert (manifest["method"], manifest["k"], manifest["unit"]) == ("or", 100, "paper")
    assert manifest["strategist"] == {"source": "statistics"}
    assert manifest["index"]["name"] == "sample"
    assert manifest["index"]["fingerprint"]["analyzer"] == "bilingual"
    assert manifest["topics"] == {
        "path": str(SAMPLE / "topics.jsonl"),
        "sha256": hashlib.sha256((SAMPLE / "topics.jsonl").read_bytes()).hexdigest(),
        "questions": 40,
    }
    assert manifest["run"]["sha256"] == hashlib.sha256(sample_run.read_bytes()).hexdigest()


def test_the_title_weight_asked_for_takes_effect_and_stands_in_the_manifest(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice paddies and methane")
    runs = []
    for weight in ("0", "5"):
        out = tmp_path / f"run{weight}"
        options = ("--name", "sample", "--method", "or", "--title-weight", weight, "--out", out)
        call("run", topics, *options)
        manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text(encoding="utf-8"))
        assert manifest["applied"]["title_weight"] == float(weight)
        runs.append(out.read_text(encoding="utf-8"))

    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("topic", "options", "error"),
    [
        ("q1\trice", ("--method", "paper", "--title-weight", "1"), BadFilter),  # no title clause
        ("q1\trice", ("--strategist", "model"), ModelNotConfigured),
        ("q1 rice", (), BadTopics),
    ],
)
def test_a_call_that_cannot_be_made_is_refused_before_anything_is_written(
    call, tmp_path, topic, options, error
):
    topics = write_lines(tmp_path / "topics.tsv", topic)

    result = call("run", topics, "--name", "sample", *options, "--out", tmp_path / "run")

    assert isinstance(result.exception, error)
    assert not (tmp_path / "run").exists()


def test_a_question_without_hits_is_told_and_the_others_go_on(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\tthe of and", "q2\t" + "x" * 20_001, "q3\trice")
    out = tmp_path / "run"

    result = call("run", topics, "--name", "sample", "--method", "or", "--out", out)

    assert result.exit_code == 0, result.output
    assert {line.split()[0] for line in out.read_text().splitlines()} == {"q3"}
    assert re.findall(r"^ *(q\d): ", result.stderr, re.MULTILINE) == ["q1", "q2"]
    assert "20,001" in result.stderr


def test_one_question_with_one_hit_is_told_in_the_singular(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice")

    result = call("run", topics, "--name", "sample", "--method", "or", "-k", 1, "--out", tmp_path / "run")

    assert result.stdout.startswith(f"{tmp_path / 'run'}: 1 question, 1 hit, ")


def test_an_expression_that_cannot_be_read_is_told_and_the_others_go_on(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", 'q1\t(rice AND "methane', "q2\trice AND methane")

    result = call(
        "run", topics, "--name", "sample", "--method", "boolean", "--out", tmp_path / "run", "--json"
    )

    assert result.exit_code == 0, result.output
    assert list(json.loads(result.stdout)["without_hits"]) == ["q1"]


class KeywordModel(Handler):
    """Answers every call with the same two keywords a language."""

    def post(self):
        self.asked()
        content = json.dumps({"ko": ["논", "메탄"], "en": ["methane", "paddy"]})
        message = {"role": "assistant", "content": content}
        self.answer(200, {"model": "small-1", "choices": [{"message": message, "finish_reason": "stop"}]})


def test_strategies_of_a_model_stand_in_the_manifest(call, tmp_path, monkeypatch):
    topics = write_lines(tmp_path / "topics.tsv", "q1\tHow much methane do paddies emit?")
    out = tmp_path / "run"

    with serving(KeywordModel) as url:
        monkeypatch.setenv("SHRAG_LLM__BASE_URL", f"{url}/v1")
        monkeypatch.setenv("SHRAG_LLM__MODEL", "small")
        result = call(
            "run", topics, "--name", "sample", "--method", "paper", "--strategist", "model", "--out", out
        )

    assert result.exit_code == 0, result.output
    made_by = json.loads((tmp_path / "run.manifest.json").read_text(encoding="utf-8"))["strategist"]
    assert (made_by["source"], made_by["model"], made_by["unusable"]) == ("model", "small", [])
    assert made_by["strategies"]["q1"]["en"] == ["methane", "paddy"]
    assert made_by["strategies"]["q1"]["origin"] == "model"
    assert list(made_by["prompts"]) == ["keywords"]
    assert out.read_text().startswith("q1 Q0 SAMPLE-")


def test_replayed_strategies_give_byte_equal_runs(call, sample_run, tmp_path):
    recorded = SAMPLE / "strategies.jsonl"
    runs = [tmp_path / name for name in ("first", "second", "statistics")]
    for out in runs:
        options = () if out.name == "statistics" else ("--strategies", recorded)
        result = call("run", SAMPLE / "topics.jsonl", "--name", "sample", *options, "--out", out)
        assert result.exit_code == 0, result.output

    first, second, statistics = (out.read_bytes() for out in runs)
    assert first == second != statistics
    manifest = json.loads((tmp_path / "first.manifest.json").read_text(encoding="utf-8"))
    assert manifest["strategist"] == {
        "source": "recorded",
        "path": str(recorded),
        "sha256": hashlib.sha256(recorded.read_bytes()).hexdigest(),
        "origins": ["recorded"],
    }
    assert manifest["applied"]["strategist"] == "recorded"


def test_topics_without_a_strategy_are_counted_and_the_first_is_named(call, tmp_path):
    few = write_lines(tmp_path / "few.jsonl", '{"query_id": "S01", "en": ["methane"]}')
    topics = SAMPLE / "topics.jsonl"

    result = call("run", topics, "--name", "sample", "--strategies", few, "--out", tmp_path / "run")

    assert isinstance(result.exception, InvalidCall)
    assert "no strategy for 39 topics; the first is S02" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_a_place_that_cannot_be_written_is_told_before_the_work(call, tmp_path):
    (tmp_path / "file").write_text("")

    result = call("run", SAMPLE / "topics.jsonl", "--name", "absent", "--out", tmp_path / "file" / "run")

    assert isinstance(result.exception, UnknownPath)


@pytest.mark.parametrize("out", ["topics.tsv", "link", "run"], ids=["itself", "by a link", "as the manifest"])
def test_what_a_run_reads_is_not_written_over(call, tmp_path, out):
    name = "run.manifest.json" if out == "run" else "topics.tsv"
    topics = write_lines(tmp_path / name, "q1\trice")
    (tmp_path / "link").symlink_to(name)

    result = call("run", topics, "--name", "sample", "--out", tmp_path / out)

    assert isinstance(result.exception, InvalidCall)
    assert topics.read_text() == "q1\trice\n"


@pytest.mark.parametrize("variable", ["SHRAG_SYNONYMS", "SHRAG_CACHE__FILE", "SHRAG_LLM__TOKENIZER"])
def test_what_the_settings_name_is_not_written_over(call, tmp_path, monkeypatch, variable):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice")
    kept = write_lines(tmp_path / "kept", "rice, paddy")
    monkeypatch.setenv(variable, str(kept))

    result = call("run", topics, "--name", "sample", "--strategist", "model", "--out", kept)

    assert isinstance(result.exception, InvalidCall)
    assert kept.read_text() == "rice, paddy\n"


def test_nothing_is_written_into_the_index_that_is_read(call, sample_home):
    result = call("run", SAMPLE / "topics.jsonl", "--name", "sample", "--out", sample_home / "sample" / "run")

    assert isinstance(result.exception, InvalidCall)
    assert not (sample_home / "sample" / "run").exists()


def test_a_pipe_gets_the_run_and_no_manifest_beside_it(call, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice")
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()

    result = call("run", topics, "--name", "sample", "--method", "or", "--out", tmp_path / "pipe", "--json")

    assert result.exit_code == 0, result.output
    reader.join()
    assert json.loads(result.stdout)["sha256"] == hashlib.sha256(received[0].encode()).hexdigest()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "topics.tsv"]


@contextmanager
def piped(path, content):
    """Make a pipe that gives a file's bytes to who opens it."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    yield path
    writer.join(60)
    assert not writer.is_alive()


def test_topics_of_a_pipe_are_hashed_as_they_are_read(call, tmp_path):
    packed = gzip.compress(b"q1\trice\n")
    with piped(tmp_path / "pipe", packed) as topics:
        result = call("run", topics, "--name", "sample", "--method", "or", "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "run.manifest.json").read_text(encoding="utf-8"))
    assert manifest["topics"]["sha256"] == hashlib.sha256(packed).hexdigest()


def test_topics_that_change_meanwhile_are_hashed_as_they_were_read(call, tmp_path, monkeypatch):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice")
    before = hashlib.sha256(topics.read_bytes()).hexdigest()
    synonyms = write_lines(tmp_path / "synonyms", "rice, paddy")
    rules = hashlib.sha256(synonyms.read_bytes()).hexdigest()

    class Editor(KeywordModel):
        def post(self):
            write_lines(topics, "q2\twheat")
            write_lines(synonyms, "wheat, corn")
            super().post()

    with serving(Editor) as url:
        monkeypatch.setenv("SHRAG_LLM__BASE_URL", f"{url}/v1")
        monkeypatch.setenv("SHRAG_LLM__MODEL", "small")
        options = ("--name", "sample", "--strategist", "model", "--synonyms", synonyms)
        result = call("run", topics, *options, "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    assert "wheat" in topics.read_text()
    manifest = json.loads((tmp_path / "run.manifest.json").read_text(encoding="utf-8"))
    assert manifest["topics"]["sha256"] == before
    assert manifest["applied"]["synonyms"]["sha256"] == rules


def test_qrels_of_a_pipe_are_read(call, tmp_path):
    run = write_lines(tmp_path / "run", "q1 Q0 x 1 2.0 t", "q1 Q0 a 2 1.0 t")
    with piped(tmp_path / "pipe", gzip.compress(b"q1 0 a 1\n")) as qrels:
        result = call("score", qrels, run, "--measures", "RR", "--json")

    assert json.loads(result.stdout) == {"RR": 0.5}


def test_a_run_on_standard_output_stands_there_alone(sample_home, tmp_path):
    topics = write_lines(tmp_path / "topics.tsv", "q1\trice")
    (tmp_path / "out").symlink_to("/proc/self/fd/1")  # as /dev/stdout is
    call = ("eval", "run", topics, "--name", "sample", "--method", "or", "--out", tmp_path / "out")
    with (tmp_path / "log").open("w") as log:
        log.write("before\n")
        log.flush()
        done = subprocess.run(
            command(*call), env=environment_of(sample_home), stdout=log, stderr=subprocess.PIPE, check=True
        )

    before, *lines = (tmp_path / "log").read_text().splitlines()
    assert before == "before"
    assert lines
    assert all(line.startswith("q1 Q0 SAMPLE-") for line in lines)
    assert b"1 question" in done.stderr


@pytest.mark.parametrize("arguments", [["--method", "best"], ["-k", "0"], ["--unit", "book"]])
def test_wrong_options_are_calls_that_are_wrong(call, tmp_path, arguments):
    result = call("run", SAMPLE / "topics.jsonl", "--name", "sample", "--out", tmp_path / "run", *arguments)

    assert result.exit_code == 2


def test_score_gives_one_json_object(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1")
    run = write_lines(tmp_path / "run", "q1 Q0 x 1 2.0 t", "q1 Q0 a 2 1.0 t", "q2 Q0 b 1 1.0 t")

    result = call("score", qrels, run, "--measures", "RR R@100", "--json")

    assert json.loads(result.stdout) == {"RR": (1 / 2 + 1) / 2, "R@100": 1.0}


def test_score_has_usual_measures_and_tells_what_is_missing(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1", "q3 0 c 0")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t", "q4 Q0 a 1 2.0 t")

    result = call("score", qrels, run)

    assert result.stdout.split() == "nDCG@10 0.5000 R@100 0.5000 Success@5 0.5000 Success@15 0.5000".split()
    assert re.findall(r"^.*\((q\d)\)$", result.stderr, re.MULTILINE) == ["q2", "q3", "q4"]


def with_manifest(run, *, failed=(), topics="one"):
    """Write beside a run what it was made with; return its path."""
    record = {
        "run": {"sha256": hashlib.sha256(run.read_bytes()).hexdigest()},
        "failed": dict.fromkeys(failed, "SourceFailed: no answer"),
        "topics": {"sha256": topics, "questions": 3},
    }
    run.with_name(f"{run.name}.manifest.json").write_text(json.dumps(record))
    return run


def test_questions_that_failed_are_left_out_of_scores_and_told(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1", "q3 0 c 1")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t")
    with_manifest(run, failed=["q2"])

    result = call("score", qrels, run, "--measures", "RR", "--json")

    assert json.loads(result.stdout) == {"RR": 1 / 2, "left_out": ["q2"]}
    assert re.findall(r"^.*\((q\d)\)$", result.stderr, re.MULTILINE) == ["q2", "q3"]


@pytest.mark.parametrize("another_run", [True, False])
def test_a_manifest_that_does_not_fit_the_run_leaves_nothing_out(call, tmp_path, another_run):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t", *[] if another_run else ["q2 Q0 x 1 2.0 t"])
    with_manifest(run, failed=["q2"])
    if another_run:
        write_lines(run, "q1 Q0 a 1 3.0 t")

    assert json.loads(call("score", qrels, run, "--measures", "RR", "--json").stdout) == {"RR": 1 / 2}


def test_questions_that_failed_in_one_run_are_compared_in_neither(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1", "q3 0 c 1")
    first = write_lines(tmp_path / "first", "q1 Q0 a 1 2.0 t", "q3 Q0 x 1 2.0 t")
    second = write_lines(
        tmp_path / "second", *(f"q{n} Q0 {found} 1 2.0 t" for n, found in enumerate("abc", 1))
    )
    with_manifest(first, failed=["q2"])
    with_manifest(second, topics="another")

    result = call("compare", qrels, first, second, "--measures", "RR", "--json")

    record = json.loads(result.stdout)
    assert (record["questions"], record["left_out"]) == (2, ["q2"])
    assert (record["measures"]["RR"]["a"], record["measures"]["RR"]["b"]) == (1 / 2, 1.0)
    assert "different topics" in result.stderr


def test_score_gives_each_question_where_asked(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1")
    run = write_lines(tmp_path / "run", "q1 Q0 x 1 2.0 t", "q1 Q0 a 2 1.0 t", "q2 Q0 b 1 1.0 t")

    result = call("score", qrels, run, "--measures", "RR", "--per-query", "--json")

    assert json.loads(result.stdout)["per_query"] == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}}
    assert "q1  RR 0.5000" in call("score", qrels, run, "--measures", "RR", "--per-query").stdout


def test_an_unknown_measure_is_told(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t")

    assert isinstance(call("score", qrels, run, "--measures", "Foo").exception, BadMeasure)


def test_compare_says_what_the_second_gains(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1", "q3 0 c 1")
    first = write_lines(tmp_path / "first", *(f"q{n} Q0 x 1 2.0 t" for n in (1, 2, 3)))
    second = write_lines(
        tmp_path / "second", *(f"q{n} Q0 {found} 1 2.0 t" for n, found in enumerate("abc", 1))
    )

    result = call("compare", qrels, first, second, "--measures", "RR", "--json")

    assert json.loads(result.stdout) == {
        "questions": 3,
        "measures": {
            "RR": {
                "a": 0.0,
                "b": 1.0,
                "difference": 1.0,
                "p_value": 2 / 8,
                "interval": [1.0, 1.0],
                "wins": 3,
                "ties": 0,
                "losses": 0,
            }
        },
        "overlap@10": 0.0,
        "rank_biased_overlap": 0.0,
    }


def test_compare_prints_a_table(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t")

    lines = call("compare", qrels, run, run, "--measures", "RR").stdout.splitlines()

    assert lines[1].split("  ")[0] == "RR"
    assert "1.0000  1.0000  +0.0000  +0.0000 … +0.0000  1.0000" in lines[1]
    assert lines[-1] == "first 10 in common 1.000, rank-biased overlap (p = .9) 1.000"


def test_the_sample_is_found(call, sample_run):
    result = call("score", SAMPLE / "qrels.txt", sample_run, "--json")

    assert json.loads(result.stdout)["Success@5"] > 0.8
