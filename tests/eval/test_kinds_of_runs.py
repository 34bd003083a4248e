"""Runs of what `ask` and `find-papers` give, and of questions of several steps: chosen by name as there."""

import json
from unittest.mock import ANY

import pytest
from click.testing import CliRunner

from eval.commands import evaluate
from eval.runs import read_run
from generator.prompts import load_prompt
from tests.generator.finding_model import FindingModel, serving_model, understanding
from tests.generator.sample_index import KOREAN, NAME, shrag

REVIEW = "recovering cobalt of spent batteries: a review"
TWO_STEPS = "What did the study that compared feedback by teachers with that of a language model find?"
QUESTIONS = {"q1": KOREAN, "q2": REVIEW, "q3": TWO_STEPS}


@pytest.fixture
def topics(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("".join(f"{key}\t{text}\n" for key, text in QUESTIONS.items()), encoding="utf-8")
    return path


@pytest.fixture
def run(sample_home, topics, tmp_path):
    """Return what makes a run, and gives its rankings and its manifest."""

    def make(*options, **environment):
        out = tmp_path / "run"
        done = shrag(
            "eval", "run", topics, "--name", NAME, "--out", out, *options, home=sample_home, **environment
        )
        assert done.returncode == 0, done.stderr
        return read_run(out), json.loads(out.with_name("run.manifest.json").read_text("utf-8"))

    return make


def ids(ranking):
    return [found for found, _ in ranking]


def test_a_run_of_find_papers_contains_the_list_of_each_question(run, sample_home):
    rankings, manifest = run("--find", "--without", "refchain,evolver", "--threshold", 0.3)
    for key, question in QUESTIONS.items():
        asked = ("find-papers", question, "--name", NAME, "--without", "refchain,evolver", "--threshold", 0.3)
        listed = json.loads(shrag(*asked, "--json", home=sample_home).stdout)["papers"]
        assert ids(rankings.get(key, [])) == [paper["id"] for paper in listed]
    assert (manifest["method"], manifest["unit"], manifest["k"]) == ("find-papers", "paper", 20)
    assert manifest["applied"]["finding"]["without"] == ["evolver", "refchain"]


def test_a_run_of_a_way_contains_the_evidence_of_its_answers(run, sample_home):
    rankings, manifest = run("--way", "paper-qa-3")
    for key, question in QUESTIONS.items():
        asked = shrag("ask", question, "--name", NAME, "--way", "paper-qa-3", "--json", home=sample_home)
        evidence = [hit["doc_id"] for hit in json.loads(asked.stdout)["evidence"]]
        assert ids(rankings.get(key, [])) == list(dict.fromkeys(evidence))
    assert manifest["applied"]["way"] == "paper-qa-3"


def test_hops_rank_the_evidence_of_the_steps_of_strategies(run, tmp_path):
    path = tmp_path / "strategies.jsonl"
    steps = ["Which study compared feedback?", "What did the comparison with a language model find?"]
    strategies = [{"query_id": key, "en": ["feedback", "model"], "steps": steps} for key in QUESTIONS]
    strategies[0]["steps"] = []
    path.write_text("\n".join(map(json.dumps, strategies)), encoding="utf-8")
    alone, _ = run("--way", "shrag", "--strategies", path)
    steps, manifest = run("--hops", "auto", "--strategies", path)
    assert steps["q1"] == alone["q1"]
    assert steps["q3"] != alone["q3"]
    assert manifest["applied"]["hops"] == "auto"


def test_a_configured_model_is_called_only_if_the_call_requests_it(run):
    model = FindingModel()
    with serving_model(model) as settings:
        run("--find", **settings)
        run("--way", "shrag", **settings)
        assert not model.calls
        _, manifest = run("--find", "--strategist", "model", "--max-calls", 5, **settings)
    assert sum(model.calls.values()) == 5 * len(QUESTIONS)
    assert manifest["strategist"]["model"] == "tiny-writer"
    version = load_prompt("judgement_brief", "en").version
    assert manifest["strategist"]["prompts"]["judgement_brief.en"] == [version]
    assert "judgement_complex.en" not in manifest["strategist"]["prompts"]
    assert not manifest["deviations"]["q2"]["complete"]


def test_only_a_question_ranked_without_the_model_is_repeated(run, sample_home, tmp_path):
    fails = {"understanding": lambda prompt: "no JSON" if REVIEW in prompt else understanding(prompt)}
    model, asking = FindingModel(fails), ("--find", "--strategist", "model")
    with serving_model(model) as settings:
        rankings, manifest = run(*asking, **settings)
        assert "the model failed" in str(manifest["deviations"]["q2"]["notes"])
        model.changed = {}
        model.calls.clear()
        again, manifest = run(*asking, **settings)
        assert model.calls["understanding"] == 1
        assert "q2" not in manifest["deviations"]
        assert (again["q1"], again["q3"]) == (rankings["q1"], rankings["q3"])
        model.calls.clear()
        assert run(*asking, **settings) == (again, manifest | {"started": ANY, "seconds": ANY})
        assert model.calls["understanding"] == len(QUESTIONS)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--find --hops auto", "--hops "),
        ("--find --method or", "--method "),
        ("--find --unit passage", "--unit paper"),
        ("--find --without wizard", "--without: must be 'understanding'"),
        ("--find -k 501", "-k: must be at most 500"),
        ("--rounds 2", "--rounds "),
        ("--way shrag --title-weight 1", "--title-weight "),
        ("--title-weight nan", "must be a finite number"),
        ("--hops auto", "--hops needs strategies with steps"),
        ("--way nope", "no way 'nope'"),
        ("--way paper-qa-1 --method or", "takes no method"),
    ],
)
def test_options_without_effect_or_of_unknown_names_fail(
    sample_home, topics, tmp_path, monkeypatch, options, complaint
):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    given = ["run", str(topics), "--name", NAME, "--out", str(tmp_path / "run"), *options.split()]
    done = CliRunner().invoke(evaluate, given)
    assert done.exit_code
    assert complaint in done.output + str(done.exception)
    assert not (tmp_path / "run").exists()
