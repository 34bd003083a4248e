"""The experiment `answers`: citations, abstention and models, on the sample and a model of rules."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall
from eval.errors import BadTopics
from eval.experiments.commands import experiment
from tests import fixture_model
from tests.generator.sample_index import ENGLISH, UNANSWERABLE_ENGLISH

pytest_plugins = ["tests.generator.sample_index"]

SAMPLE = Path(__file__).resolve().parents[3] / "sample"
PAPER = "SAMPLE-BAT-011"  # answers ENGLISH
QUOTED, MODEL = "quoted sentences", fixture_model.MODEL

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib


@pytest.fixture
def run(sample_home, monkeypatch, tmp_path):
    """Run the experiment on two topics: one that PAPER answers, and one without a relevant paper."""
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    topics, qrels, strings = tmp_path / "topics.tsv", tmp_path / "qrels.txt", tmp_path / "answers.jsonl"
    topics.write_text(f"Q1\t{ENGLISH}\nQ2\t{UNANSWERABLE_ENGLISH}\n")
    qrels.write_text(f"Q1 0 {PAPER} 2\nQ1 0 SAMPLE-BAT-003 0\n")
    strings.write_text('{"query_id": "Q1", "answers": ["cooling plate"]}\n')

    def called(*options):
        arguments = ["answers", topics, qrels, "--answers", strings, "--out", tmp_path / "made", *options]
        return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)

    return called


@pytest.fixture
def model(monkeypatch):
    """Serve the model of rules, whose failures are not retried."""
    with fixture_model.fixture_model() as variables:
        for name, value in {**variables, "SHRAG_LLM__RETRIES": "0"}.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture
def written(model, monkeypatch):
    """Let the model answer from PAPER: two true sentences, one with the wrong time, one without citation."""

    def answer(prompt, _):
        passages = fixture_model.items_of("passage", prompt)
        right = [number for number, text in passages.items() if "aerogel" in text]
        sentences = [
            ("With 1 mm silica aerogel sheets the whole module took 17 minutes.", right),
            ("Without a barrier the whole module was consumed in 94 s.", right),
            ("Aerogel is a light material.", []),
            ("With 2 mm sheets and a cooling plate propagation stopped after the second cell.", right),
        ]
        body = [{"text": text, "citations": numbers} for text, numbers in sentences]
        return {
            "title": "Aerogel",
            "introduction": [],
            "body": body,
            "conclusion": [],
            "answered": bool(right),
        }

    monkeypatch.setitem(fixture_model.ANSWERS, "answer", answer)


def topics_of(tmp_path):
    lines = (tmp_path / "made" / "topics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def main_of(tmp_path):
    return json.loads((tmp_path / "made" / "metrics.json").read_text())["main"]


def manifest_of(tmp_path):
    return json.loads((tmp_path / "made" / "manifest.json").read_text())


def row_of(tmp_path, title, system):
    """Return the cells of a system in a table of the report, by column."""
    lines = (tmp_path / "made" / "report.md").read_text().partition(f"## {title}\n")[2].splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    [found] = [row for row in table if row[0] == system][:1]
    return dict(zip(table[0], found, strict=True))


def test_topics_without_a_relevant_paper_are_asked_and_declined(run, tmp_path):
    assert run().exit_code == 0
    first, second = topics_of(tmp_path)
    assert (first["relevant"], first["systems"][QUOTED]["answered"]) == (1, True)
    assert (second["relevant"], second["systems"][QUOTED]["answered"]) == (0, False)
    cells = list(row_of(tmp_path, "Likelihood of an answer, and risk of the answers", QUOTED).values())
    assert cells[1:] == ["1.0000", "0.2500", "0.2500", "0.5000", "0.0000"]  # AURC: mean of 0 and 1/2


def test_evidence_and_accepted_strings_are_counted(run, tmp_path):
    run()
    record = topics_of(tmp_path)[0]["systems"][QUOTED]
    assert (record["relevant_evidence"], record["relevant_cited"], record["right"]) == (1, 1, True)
    assert main_of(tmp_path)[f"right answers, {QUOTED}"] == 1
    assert topics_of(tmp_path)[1]["systems"][QUOTED]["right"] is None


def test_citation_measures_are_those_of_alce(run, written, monkeypatch, tmp_path):
    def check(prompt, _):
        sentences = fixture_model.items_of("sentence", prompt)
        verdicts = {n: "unsupported" if "94 s" in text else "supported" for n, text in sentences.items()}
        return {"judgements": [{"sentence": n, "verdict": verdict} for n, verdict in verdicts.items()]}

    monkeypatch.setitem(fixture_model.ANSWERS, "check", check)
    assert run("--model").exit_code == 0
    judged = [each["judged"] for each in topics_of(tmp_path)[0]["systems"][MODEL]["sentences"]]
    assert [each["verdict"] for each in judged] == ["supported", "unsupported", "unsupported", "supported"]
    assert [each["precise"] for each in judged] == [[True], [False], [], [True]]
    main = main_of(tmp_path)
    assert main[f"citation recall, {MODEL}"] == 2 / 4
    assert main[f"citation precision, {MODEL}"] == pytest.approx(2 / 3)
    row = row_of(tmp_path, "Citations of the answers", MODEL)
    assert (row["unsupported"], row["without citation"], row["not judged"]) == ("2", "1", "0")
    assert "check.en version 1" in manifest_of(tmp_path)["judges"]["Citations of the answers"]


def test_a_failed_judgement_is_counted_and_changes_nothing_else(run, written, monkeypatch, tmp_path):
    monkeypatch.setitem(fixture_model.ANSWERS, "check", lambda *_: {"judgements": "none"})
    assert run("--model").exit_code == 0
    sentences = topics_of(tmp_path)[0]["systems"][MODEL]["sentences"]
    verdicts = [each["judged"]["verdict"] for each in sentences]
    assert verdicts == ["not judged", "not judged", "unsupported", "not judged"]
    assert row_of(tmp_path, "Citations of the answers", MODEL)["not judged"] == "3"


def test_a_failed_answer_is_quoted_and_counted(run, model, monkeypatch, tmp_path):
    monkeypatch.setitem(fixture_model.ANSWERS, "answer", lambda *_: {"body": 1})
    assert run("--model").exit_code == 0
    assert topics_of(tmp_path)[0]["systems"][MODEL]["fallbacks"] == ["answer"]
    assert row_of(tmp_path, "Citations of the answers", MODEL)["failed calls"] == "2"


def test_each_model_has_a_row_and_its_seconds(run, model, tmp_path):
    run("--model", "--models", "one,org/two")
    assert list(topics_of(tmp_path)[0]["systems"]) == [QUOTED, "one", "org/two"]
    times = json.loads((tmp_path / "made" / "times.json").read_text())
    assert set(times["topics"]["Q1"]) == {QUOTED, "one", "org/two"}
    assert [row[0] for row in times["tables"][0]["rows"]] == [QUOTED, "one", "org/two"]
    runs = {path.name for path in (tmp_path / "made" / "runs").iterdir()}
    assert runs == {"0-quoted-sentences.trec", "1-one.trec", "2-org-two.trec"}


def test_models_are_asked_by_their_names(run, written, monkeypatch):
    asked, reply_to = set(), fixture_model.reply_to

    def noting(body):
        asked.add(body["model"])
        return reply_to(body)

    monkeypatch.setattr(fixture_model, "reply_to", noting)
    run("--model", "--models", "one,two")
    assert asked == {"one", "two", MODEL}  # MODEL judges


@pytest.mark.parametrize("options", [["--models", "one"], ["--model", "--models", "one,one"]])
def test_models_need_a_model_and_different_names(run, options):
    refused = run(*options)
    assert refused.exit_code == 2
    assert "--models" in refused.output


def test_topics_are_asked_again_without_their_relevant_papers(run, tmp_path):
    run("--removed")
    first, second = topics_of(tmp_path)
    assert first["removed"]["likelihood"] < first["systems"][QUOTED]["likelihood"]
    assert "removed" not in second
    row = row_of(tmp_path, "Answered and declined topics", "quoted sentences, relevant papers removed")
    assert (row["topics with relevant papers"], row["topics without"]) == ("1", "1")


def test_a_question_that_cannot_be_searched_for_is_a_declined_topic(run, tmp_path):
    (tmp_path / "topics.tsv").write_text(f"Q1\t{ENGLISH}\nQ2\t\u0336!\n")
    made = run()
    assert made.exit_code == 0
    assert topics_of(tmp_path)[1]["systems"][QUOTED]["answered"] is False


def test_the_copies_of_all_inputs_are_repeated(run, tmp_path):
    run()
    (tmp_path / "answers.jsonl").unlink()
    repeated = CliRunner().invoke(experiment, ["repeat", str(tmp_path / "made")], catch_exceptions=False)
    assert repeated.output == "no differences\n"
    assert (tmp_path / "made" / "inputs" / "answers.jsonl").exists()


def test_judgements_of_other_topics_are_an_error(run, tmp_path):
    (tmp_path / "qrels.txt").write_text(f"Q9 0 {PAPER} 2\n")
    with pytest.raises(InvalidCall):
        run()


def test_an_invalid_file_of_accepted_strings_is_named(run, tmp_path):
    (tmp_path / "answers.jsonl").write_text("{}\n")
    with pytest.raises(BadTopics) as raised:
        run()
    assert "answers.jsonl:1: " in str(raised.value)
