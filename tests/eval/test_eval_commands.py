"""The commands, from an index of the project's own sample to scores."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall
from eval.commands import evaluate
from eval.errors import BadMeasure, BadTopics
from generator.errors import ModelNotConfigured
from retriever.errors import BadFilter
from retriever.methods import method_names
from tests.indexer.made_corpora import command, environment_of

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


@pytest.fixture
def call(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))

    def invoke(*arguments):
        return CliRunner().invoke(evaluate, [str(argument) for argument in arguments], catch_exceptions=True)

    return invoke


def write_lines(path, *lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def run(call, tmp_path):
    """Return what ranks topics by a method, and gives the lines of the run by column, and the manifest."""

    def made(*topics, options=("--method", "or"), out=tmp_path / "run"):
        path = write_lines(tmp_path / "topics.tsv", *topics)
        result = call("run", path, "--name", "sample", *options, "--out", out, "--json")
        assert result.exit_code == 0, result.output
        lines = [line.split(" ") for line in out.read_text().splitlines()]
        manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text(encoding="utf-8"))
        return lines, manifest, result

    return made


@pytest.mark.parametrize("method", [method for method in method_names() if method != "dense"])
def test_a_run_holds_papers_of_every_question(run, method):
    lines, manifest, result = run(
        "q1\tmethane rice", "q2\t간호사 이직", options=("--method", method, "-k", 5)
    )
    assert {line[0] for line in lines} == {"q1", "q2"}
    assert all(line[2].startswith("SAMPLE-") and "@" not in line[2] for line in lines)
    assert json.loads(result.stdout)["hits"] == len(lines) <= 10
    assert (manifest["method"], manifest["k"], manifest["unit"]) == (method, 5, "paper")


def test_unit_and_title_weight_can_be_changed(run):
    passages, _, _ = run("q1\tmethane emission of rice", options=("--method", "or", "--unit", "passage"))
    assert any("@" in line[2] for line in passages)
    runs = [
        run("q1\trice and methane", options=("--method", "or", "--title-weight", weight)) for weight in "05"
    ]
    assert [manifest["applied"]["title_weight"] for _, manifest, _ in runs] == [0, 5]
    assert runs[0][0] != runs[1][0]


def made(call, out, *options):
    """Make a run of the sample; return its bytes, and its manifest without times and paths."""
    out.parent.mkdir(exist_ok=True)
    result = call("run", SAMPLE / "topics.jsonl", "--name", "sample", *options, "--out", out)
    assert result.exit_code == 0, result.output
    manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text(encoding="utf-8"))
    for differs in ("started", "seconds"):
        del manifest[differs]
    del manifest["run"]["path"]
    return out.read_bytes(), manifest


def test_equal_runs_have_equal_bytes_and_manifests_and_recorded_strategies_change_both(call, tmp_path):
    options = ("--method", "or")
    run, manifest = made(call, tmp_path / "a" / "run", *options)
    assert made(call, tmp_path / "b" / "run", *options) == (run, manifest)
    assert manifest["strategist"] == {"source": "statistics"}
    assert manifest["index"]["name"] == "sample"
    topics = SAMPLE / "topics.jsonl"
    digest = hashlib.sha256(topics.read_bytes()).hexdigest()
    assert manifest["topics"] == {"path": str(topics), "sha256": digest, "questions": 40}
    assert manifest["run"]["sha256"] == hashlib.sha256(run).hexdigest()
    scored = call("score", SAMPLE / "qrels.txt", tmp_path / "b" / "run", "--json")
    assert json.loads(scored.stdout)["Success@5"] > 0.8
    recorded = SAMPLE / "strategies.jsonl"
    replayed = made(call, tmp_path / "c" / "run", "--strategies", recorded)
    assert replayed == made(call, tmp_path / "d" / "run", "--strategies", recorded)
    assert replayed[0] != made(call, tmp_path / "e" / "run")[0]
    digest = hashlib.sha256(recorded.read_bytes()).hexdigest()
    made_by = {"source": "recorded", "path": str(recorded), "sha256": digest, "origins": ["recorded"]}
    assert replayed[1]["strategist"] == made_by
    assert replayed[1]["applied"]["strategist"] == "recorded"


@pytest.mark.parametrize(
    ("topic", "options", "error", "part"),
    [
        ("q1\trice", ("--method", "paper", "--title-weight", "1"), BadFilter, ""),  # no title clause
        ("q1\trice", ("--strategist", "model"), ModelNotConfigured, ""),
        ("q1 rice", (), BadTopics, ""),
        ("S02\trice\nS03\trice", ("--strategies", "{few}"), InvalidCall, "for 2 topics; the first is S02"),
    ],
)
def test_an_invalid_call_is_refused_before_anything_is_written(call, tmp_path, topic, options, error, part):
    topics = write_lines(tmp_path / "topics.tsv", topic)
    few = write_lines(tmp_path / "few.jsonl", '{"query_id": "S01", "en": ["methane"]}')
    given = [each.format(few=few) for each in options]
    result = call("run", topics, "--name", "sample", *given, "--out", tmp_path / "run")
    assert isinstance(result.exception, error)
    assert part in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_a_question_without_hits_is_reported_and_the_others_are_ranked(call, run, tmp_path):
    lines, _, result = run("q1\tthe of and", "q2\t" + "x" * 20_001, "q3\trice")
    assert {line[0] for line in lines} == {"q3"}
    reasons = json.loads(result.stdout)["without_hits"]
    assert list(reasons) == ["q1", "q2"]
    assert "20,001" in reasons["q2"]
    one = write_lines(tmp_path / "one.tsv", "q1\trice", "q2\tthe")
    result = call("run", one, "--name", "sample", "--method", "or", "-k", 1, "--out", tmp_path / "run")
    assert re.search("^ *q2: ", result.stderr, re.MULTILINE)
    assert ", 1 hit, " in result.stdout


def test_strategies_of_a_model_and_the_files_as_they_were_read_stand_in_the_manifest(
    run, tmp_path, model, monkeypatch
):
    synonyms = write_lines(tmp_path / "synonyms", "rice, paddy")
    rules = hashlib.sha256(synonyms.read_bytes()).hexdigest()

    def edit(_):
        write_lines(tmp_path / "topics.tsv", "q2\twheat")
        write_lines(synonyms, "wheat, corn")
        return 200

    model.on_call = edit
    for name, value in model.settings.items():
        monkeypatch.setenv(f"SHRAG_{name.upper()}", str(value))
    options = ("--method", "paper", "--strategist", "model", "--synonyms", synonyms)
    lines, manifest, _ = run("q1\tHow much methane do paddies emit?", options=options)
    made_by = manifest["strategist"]
    assert (made_by["source"], made_by["model"], made_by["unusable"]) == ("model", "small", [])
    strategy = made_by["strategies"]["q1"]
    assert (strategy["en"], strategy["origin"]) == (["methane", "paddy"], "model")
    assert lines[0][2].startswith("SAMPLE-")
    asked = b"q1\tHow much methane do paddies emit?\n"
    assert manifest["topics"]["sha256"] == hashlib.sha256(asked).hexdigest()
    assert manifest["applied"]["synonyms"]["sha256"] == rules


@pytest.mark.parametrize(
    ("out", "variable"), [("topics.tsv", ""), ("link", ""), ("run", ""), ("kept", "SYNONYMS"), ("inside", "")]
)
def test_what_a_run_reads_is_not_written_over(call, sample_home, tmp_path, monkeypatch, out, variable):
    topics = write_lines(tmp_path / ("run.manifest.json" if out == "run" else "topics.tsv"), "q1\trice")
    (tmp_path / "link").symlink_to(topics.name)
    kept = write_lines(tmp_path / "kept", "rice, paddy")
    if variable:
        monkeypatch.setenv(f"SHRAG_{variable}", str(kept))

    place = sample_home / "sample" / "run" if out == "inside" else tmp_path / out
    result = call("run", topics, "--name", "sample", "--out", place)

    assert isinstance(result.exception, InvalidCall)
    assert (topics.read_text(), kept.read_text()) == ("q1\trice\n", "rice, paddy\n")


def test_compressed_pipes_are_read(call, tmp_path):
    def write(pipe, content):
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_bytes, args=[gzip.compress(content, mtime=0)], daemon=True).start()

    topics, qrels, run = (tmp_path / name for name in ("topics", "qrels", "run"))
    write(topics, b"q1\trice\n")
    result = call("run", topics, "--name", "sample", "--method", "or", "--out", run)
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "run.manifest.json").read_text(encoding="utf-8"))
    assert manifest["topics"]["sha256"] == hashlib.sha256(gzip.compress(b"q1\trice\n", mtime=0)).hexdigest()
    write_lines(run, "q1 Q0 x 1 2.0 t", "q1 Q0 a 2 1.0 t")
    write(qrels, b"q1 0 a 1\n")
    assert json.loads(call("score", qrels, run, "--measures", "RR", "--json").stdout) == {"RR": 0.5}


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


@pytest.fixture
def judged(call, tmp_path):
    """Return what scores or compares runs of a, b, c for q1, q2, q3; hits that are x are not relevant."""
    write_lines(tmp_path / "qrels", *(f"q{number} 0 {found} 1" for number, found in enumerate("abc", 1)))

    def scored(*runs, options=(), measures="RR"):
        paths = []
        for number, run in enumerate(runs):
            hits, failed, topics = run if isinstance(run, tuple) else (run, None, "")
            lines = (
                f"{query_id} Q0 {found} {rank} {9 - rank} t"
                for query_id, of in hits.items()
                for rank, found in enumerate(of, 1)
            )
            path = write_lines(tmp_path / f"run{number}", *lines)
            if failed is not None:
                record = {
                    "run": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
                    "failed": dict.fromkeys(failed, "SourceFailed: no answer"),
                    "topics": {"sha256": topics, "questions": 3},
                }
                path.with_name(f"{path.name}.manifest.json").write_text(json.dumps(record))
            paths.append(path)
        command = "score" if len(runs) == 1 else "compare"
        named = ("--measures", measures) if measures else ()
        return call(command, tmp_path / "qrels", *paths, *named, *options)

    return scored


WHOLE = {"q1": "xa", "q2": "b", "q3": "c"}


def test_score_gives_means_and_each_question_where_asked(judged):
    assert json.loads(judged(WHOLE, measures="RR R@100", options=["--json"]).stdout) == {
        "RR": pytest.approx((1 / 2 + 1 + 1) / 3),
        "R@100": 1.0,
    }
    of_questions = json.loads(judged(WHOLE, options=["--json", "--per-query"]).stdout)["per_query"]
    assert of_questions == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}, "q3": {"RR": 1.0}}
    assert "q1  RR 0.5000" in judged(WHOLE, options=["--per-query"]).stdout
    assert isinstance(judged(WHOLE, measures="Foo").exception, BadMeasure)


def test_score_has_usual_measures_and_tells_what_is_missing(call, tmp_path):
    qrels = write_lines(tmp_path / "qrels", "q1 0 a 1", "q2 0 b 1", "q3 0 c 0")
    run = write_lines(tmp_path / "run", "q1 Q0 a 1 2.0 t", "q4 Q0 a 1 2.0 t")

    result = call("score", qrels, run)

    assert result.stdout.split() == "nDCG@10 0.5000 R@100 0.5000 Success@5 0.5000 Success@15 0.5000".split()
    assert re.findall(r"^.*\((q\d)\)$", result.stderr, re.MULTILINE) == ["q2", "q3", "q4"]


def test_questions_that_failed_are_left_out_of_scores_and_comparisons(judged, tmp_path):
    result = judged(({"q1": "a"}, ["q2"], "one"), options=["--json"])
    assert json.loads(result.stdout) == {"RR": 1 / 2, "left_out": ["q2"]}
    assert re.findall(r"^.*\((q\d)\)$", result.stderr, re.MULTILINE) == ["q2", "q3"]
    # a manifest of another run
    assert json.loads(judged({"q1": "xa"}, options=["--json"]).stdout) == {"RR": pytest.approx(1 / 6)}
    (tmp_path / "run0.manifest.json").unlink()
    assert json.loads(judged(({"q1": "a", "q2": "x"}, ["q2"], ""), options=["--json"]).stdout) == {
        "RR": pytest.approx(1 / 3)
    }
    first = ({"q1": "a", "q3": "x"}, ["q2"], "one")
    result = judged(first, ({**WHOLE, "q1": "a"}, [], "another"), options=["--json"])
    record = json.loads(result.stdout)
    assert (record["questions"], record["left_out"]) == (2, ["q2"])
    assert (record["measures"]["RR"]["a"], record["measures"]["RR"]["b"]) == (1 / 2, 1.0)
    assert "different topics" in result.stderr


def test_compare_says_what_the_second_gains(judged):
    none, all_found = dict.fromkeys(WHOLE, "x"), {**WHOLE, "q1": "a"}
    gain = {"a": 0.0, "b": 1.0, "difference": 1.0, "p_value": 2 / 8, "interval": [1.0, 1.0]}
    assert json.loads(judged(none, all_found, options=["--json"]).stdout) == {
        "questions": 3,
        "measures": {"RR": {**gain, "wins": 3, "ties": 0, "losses": 0}},
        "overlap@10": 0.0,
        "rank_biased_overlap": 0.0,
    }
    assert "1.0000  1.0000  +0.0000  +0.0000 … +0.0000  1.0000" in judged(all_found, all_found).stdout
