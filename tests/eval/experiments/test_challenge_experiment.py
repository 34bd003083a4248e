"""The challenge on the project's own sample: answers in its form, measures, and a language model."""

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from eval.errors import BadTopics
from eval.experiments.challenge.form import form_problems
from eval.experiments.commands import experiment
from eval.experiments.tables.challenge import is_named, measures, peak_gpu_memory
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage
from retriever.stages.hits import Hit
from tests.fixture_model import MODEL, fixture_model

pytest_plugins = ["tests.generator.sample_index"]

SAMPLE = Path(__file__).resolve().parents[3] / "sample"
QUESTIONS, MAPPING = SAMPLE / "challenge" / "questions.csv", SAMPLE / "challenge" / "mapping.toml"

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib


@pytest.fixture
def call(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))

    def called(questions, *arguments, mapping=MAPPING):
        given = ["challenge", questions, "--mapping", mapping, *arguments]
        return CliRunner().invoke(experiment, list(map(str, given)), catch_exceptions=False)

    return called


@pytest.fixture
def three(tmp_path):
    """Return a CSV of the first two questions, and one without relevant documents."""
    path = tmp_path / "three.csv"
    header, *lines = QUESTIONS.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *lines[:2], lines[-1]]))
    return path


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def topics_of(folder):
    return [json.loads(line) for line in (folder / "topics.jsonl").read_text().splitlines()]


def jsonl(name):
    return [json.loads(line) for line in (SAMPLE / name).read_text().splitlines()]


def test_the_questions_of_the_sample_name_the_titles_of_the_relevant_papers():
    titles = {paper["id"]: paper["title"] for paper in jsonl("papers.jsonl")}
    relevant: dict[str, list[str]] = {}
    for line in (SAMPLE / "qrels.txt").read_text().splitlines():
        query_id, _, paper, grade = line.split()
        if int(grade) > 0:
            relevant.setdefault(query_id, []).append(titles[paper])
    assert rows_of(QUESTIONS) == [
        {
            "id": topic["query_id"],
            "Question": topic["question"],
            "relevant_titles": "|".join(relevant.get(topic["query_id"], [])),
        }
        for topic in jsonl("topics.jsonl")
    ]


def test_all_answers_to_the_sample_are_in_the_form(call, tmp_path):
    assert call(QUESTIONS, "--out", tmp_path / "out").exit_code == 0
    rows = rows_of(tmp_path / "out" / "answers.csv")
    assert [row["id"] for row in rows] == [topic["query_id"] for topic in jsonl("topics.jsonl")]
    for row in rows:
        assert form_problems(row["answer"], language_of(row["Question"])) == ()
    assert all(row["document_1"] for row in rows)


def test_every_question_of_the_sample_has_evidence(call, tmp_path):
    call(QUESTIONS, "--out", tmp_path / "out")
    main = json.loads((tmp_path / "out" / "metrics.json").read_text())["main"]
    assert main["evidence coverage"] == 100
    assert main["retrieval ratio"] > 90


def test_questions_without_relevant_documents_are_answered_and_not_measured(call, three, tmp_path):
    result = call(three, "--out", tmp_path / "out")
    assert len(rows_of(tmp_path / "out" / "answers.csv")) == 3
    assert "1 questions name no relevant document" in result.stderr
    assert "percent of 2 questions" in result.stdout


def test_without_any_relevant_document_there_are_answers_and_no_measures(call, three, tmp_path):
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING.read_text().replace('relevant = "relevant_titles"\n', ""))
    assert call(three, "--out", tmp_path / "out", mapping=mapping).exit_code == 0
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["main"] == {}


def test_the_number_of_documents_is_that_of_the_columns(call, three, tmp_path):
    call(three, "-k", 2, "--out", tmp_path / "out")
    [*_, last] = rows_of(tmp_path / "out" / "answers.csv")[0]
    assert last == "document_2"


def test_times_and_memory_are_not_among_the_results_that_repeat(call, three, tmp_path):
    assert "peak GPU memory" in call(three, "--out", tmp_path / "out").stdout
    assert "GPU" not in (tmp_path / "out" / "report.md").read_text()
    [table] = json.loads((tmp_path / "out" / "times.json").read_text())["tables"]
    assert "GPU" in table["rows"][-1][0]
    repeated = call_repeat(tmp_path / "out")
    assert (repeated.exit_code, repeated.output) == (0, "no differences\n")


def call_repeat(folder):
    return CliRunner().invoke(experiment, ["repeat", str(folder)], catch_exceptions=False)


def test_a_language_model_writes_the_sections(call, tmp_path, monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        call(QUESTIONS, "--model", "--out", tmp_path / "out")
    topics = topics_of(tmp_path / "out")
    written = [topic for topic in topics if not topic["abstained"]]
    assert {topic["written_by"] for topic in written} == {MODEL}
    assert all(all(topic["answer"].values()) for topic in written)
    assert [topic["left"] for topic in topics] == [[]] * 40


def test_a_missing_column_is_named_with_file_and_line(call, tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("id,Question\nQ1,why\n")
    with pytest.raises(BadTopics) as raised:
        call(path, "--out", tmp_path / "out")
    assert raised.value.args[0].startswith(f"{path}:1: ")
    assert "relevant_titles" in raised.value.args[0]


def test_the_mapping_is_required(sample_home, tmp_path):
    result = CliRunner().invoke(experiment, ["challenge", str(QUESTIONS), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "--mapping" in result.stderr


def test_a_document_is_named_by_its_id_or_title():
    passage = StoredPassage("A#1", "A", title="Rice, and methane", text="", lang="en", part="abstract")
    hit = Hit(1, passage, 1.0, paper={"title2": "벼와 메탄"})
    assert all(is_named(hit, name) for name in ("A", "A#1", "rice and Methane.", "벼와  메탄"))
    assert not any(is_named(hit, name) for name in ("a", "Rice", "…"))


def test_measures_are_means_over_questions():
    topics = [
        {"relevant": 2, "collected": 1, "sentences": 4, "citing": 3},
        {"relevant": 1, "collected": 0, "sentences": 0, "citing": 0},
    ]
    assert measures(topics) == {"evidence coverage": 50, "retrieval ratio": 25, "relevance": 37.5}


def test_peak_memory_is_that_of_the_gpu_with_the_most(monkeypatch):
    cuda = SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 2, max_memory_allocated=[3_000, 5_000].__getitem__
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert peak_gpu_memory() == 5_000


def test_without_torch_no_gpu_memory_is_reported(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert peak_gpu_memory() is None
