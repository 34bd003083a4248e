"""Experiments on paper finding: a small benchmark, imported, indexed and searched."""

import json

import pytest
from click.testing import CliRunner

from eval.errors import BadBenchmark, BadTopics, NothingJudged
from eval.experiments.commands import experiment
from generator.errors import ModelRefusedCall
from indexer.commands import index
from tests.fixture_model import fixture_model
from tests.http_server import Handler, serving

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib

# `cited` shares no word with the question, `biochar` only words with the title of `rice`.
CORPUS = {
    "rice": (
        "Methane from rice paddies with biochar",
        "Methane emissions of rice paddies were measured in two seasons.",
        {"year": 2018, "references": ["cited"]},
    ),
    "cited": (
        "Gas chromatography of trace compounds",
        "A chromatograph separates compounds.",
        {"year": 2001},
    ),
    "biochar": (
        "Biochar made of straw in upland soils",
        "Straw was pyrolysed at 400 degrees.",
        {"year": 2016},
    ),
    "newer": (
        "Methane from rice paddies after drainage",
        "Drained rice paddies emitted less methane.",
        {"year": 2022},
    ),
    "nurse": (
        "Turnover of hospital nurses",
        "Nurses answered a questionnaire about their work.",
        {"year": 2010},
    ),
    "alloy": ("Fatigue of titanium alloys", "Specimens of an alloy were loaded cyclically.", {"year": 2012}),
    "cells": (
        "Ageing of sodium cells",
        "Cells were cycled until half of the capacity was left.",
        {"year": 2020},
    ),
    "poems": ("Metre in early poems", "The metre of poems was annotated by two readers.", {"year": 2009}),
}
QUESTION = "methane from rice paddies"


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def called(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Import a benchmark in BEIR's layout, and index its papers."""
    folder = tmp_path_factory.mktemp("beir")
    write_lines(
        folder / "queries.jsonl", [{"_id": "q", "text": QUESTION}, {"_id": "other", "text": "alloys"}]
    )
    write_lines(
        folder / "corpus.jsonl",
        [
            {"_id": paper_id, "title": title, "text": text, "metadata": metadata}
            for paper_id, (title, text, metadata) in CORPUS.items()
        ],
    )
    (folder / "qrels").mkdir()
    judged = {"rice": 2, "cited": 1, "biochar": 1, "nurse": 0}
    lines = [f"q\t{paper_id}\t{grade}\n" for paper_id, grade in judged.items()] + ["other\talloy\t1\n"]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    out = tmp_path_factory.mktemp("made")
    called(experiment, "import", "beir", folder, "--out", out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHRAG_HOME", str(out / "home"))
        called(index, out / "papers.jsonl", "--name", "small")
    return out


@pytest.fixture
def records(made, monkeypatch, tmp_path):
    """Run an experiment, and return its records by query_id."""
    monkeypatch.setenv("SHRAG_HOME", str(made / "home"))

    def run(name, *options, topics=made / "topics.jsonl", qrels=made / "qrels.txt"):
        called(experiment, name, topics, qrels, *options, "--out", tmp_path / name)
        lines = (tmp_path / name / "topics.jsonl").read_text().splitlines()
        return {record["query_id"]: record for record in map(json.loads, lines)}

    return run


@pytest.fixture
def model(monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


def test_each_way_to_find_papers_is_counted(records):
    systems = records("finding-papers", "-k", 2)["q"]["systems"]
    assert systems["index, question as typed"] == {"retrieved": 2, "relevant": 3, "found": 1}
    assert systems["method shrag"] == {"retrieved": 2, "relevant": 3, "found": 1}
    assert "index, keywords by a model" not in systems


def test_a_model_refines_the_question_and_writes_keywords(records, model):
    systems = records("finding-papers", "-k", 2, "--model")["q"]["systems"]
    assert systems["index, refined queries"] == {"retrieved": 2, "relevant": 3, "found": 1}
    assert systems["index, keywords by a model"] == {"retrieved": 2, "relevant": 3, "found": 1}


def test_a_source_is_searched_beside_the_index(records, tmp_path):
    (tmp_path / "library.toml").write_text('kind = "index"\nindex = "small"\n')
    systems = records("finding-papers", "-k", 2, "--source", tmp_path / "library.toml")["q"]["systems"]
    assert systems["source library, question as typed"] == systems["index, question as typed"]
    assert systems["find-papers in the sources"]["found"] >= 1


def test_papers_newer_than_the_question_are_left_out(records, tmp_path):
    dated = write_lines(
        tmp_path / "dated.jsonl", [{"query_id": "q", "question": QUESTION, "date": "2019-05-01"}]
    )
    systems = records("finding-papers", "-k", 2, topics=dated)["q"]["systems"]
    assert systems["index, question as typed"]["retrieved"] == 1  # without the one of 2022
    assert systems["method shrag"] == {"retrieved": 1, "relevant": 3, "found": 1}


def test_papers_of_other_ids_are_identified_by_their_titles(records, tmp_path):
    listed = write_lines(
        tmp_path / "test.jsonl",
        [
            {
                "qid": "q",
                "question": QUESTION,
                "answer": ["METHANE from Rice Paddies, with Biochar"],
                "answer_arxiv_id": ["1801.00001v2"],
                "source_meta": {"published_time": "20190501"},
            }
        ],
    )
    out = tmp_path / "imported"
    called(experiment, "import", "autoscholar", listed, "--out", out)
    given = {"topics": out / "topics.jsonl", "qrels": out / "qrels.txt"}
    record = records("finding-papers", "--papers", out / "papers.jsonl", **given)
    assert record["q"]["systems"]["method shrag"]["found"] == 1
    with pytest.raises(NothingJudged, match="1801"):
        records("finding-papers", **given)


def test_sources_are_searched_instead_of_the_index(records, tmp_path):
    (tmp_path / "library.toml").write_text('kind = "index"\nindex = "small"\n')
    in_index = records("finding-layers")["q"]
    assert records("finding-layers", "--source", tmp_path / "library.toml", "--restart")["q"] == in_index


def test_references_of_relevant_papers_raise_the_raw_recall(records):
    raw = records("finding-layers")["q"]["raw"]
    without, one_layer = raw["0"], raw["1"]
    assert one_layer["found"] == without["found"] + 1  # the cited paper


def test_evolved_queries_find_papers_that_the_question_does_not(records, model):
    record = records("finding-queries", "--model")["q"]
    assert record["groups"]["native"]["relevant"] == 1
    assert record["groups"]["evolved"]["not_native"] == 1
    assert next(example["found"] for example in record["examples"]) == ["biochar"]


def test_an_agent_that_is_left_out_has_a_row_of_its_own(records):
    record = records("finding-agents")["q"]
    assert list(record["agents"]) == ["all agents", "without refchain"]  # the others need a model
    assert record["recall"].keys() == {"by judgement", "re-ranked"}


def test_pairs_are_the_judged_ones_and_sampled_ones_of_other_questions(records):
    record = records("judging-papers", "--negatives", 5)["q"]
    assert (record["pairs"], record["sampled"]) == (5, 1)  # four judged, and the one of the other question
    assert record["judges"]["every pair is relevant"] == {"retrieved": 5, "relevant": 3, "found": 3}


def test_pairs_below_a_grade_are_not_relevant(records):
    record = records("judging-papers", "--negatives", 0, "--grade", 2)["q"]
    assert record["judges"]["every pair is relevant"] == {"retrieved": 4, "relevant": 1, "found": 1}
    assert record["judges"]["rules"] == {"retrieved": 1, "relevant": 1, "found": 1}


def test_without_a_model_only_the_rules_judge(records):
    assert list(records("finding-judges")["q"]["judges"]) == ["rules"]


def test_a_model_judges_with_both_prompts(records, model):
    judges = records("finding-judges", "--model")["q"]["judges"]
    assert list(judges) == ["rules", "model, brief", "model, complex"]


def test_a_model_judges_the_same_pairs_as_the_rules(records, model):
    record = records("judging-papers", "--model", "--negatives", 0)["q"]
    assert record["judges"]["model, brief"] == {"retrieved": 1, "relevant": 3, "found": 1}
    assert record["replaced"] == {"model, brief": 0, "model, complex": 0}


class Refusing(Handler):
    """A server that knows no key."""

    def post(self):
        self.answer(401, {"error": {"message": "no key"}})


def test_a_server_that_refuses_all_calls_ends_the_experiment(records, monkeypatch):
    with serving(Refusing) as url:
        monkeypatch.setenv("SHRAG_LLM__BASE_URL", f"{url}/v1")
        monkeypatch.setenv("SHRAG_LLM__MODEL", "any")
        with pytest.raises(ModelRefusedCall):
            records("finding-judges", "--model")


@pytest.mark.parametrize(
    ("line", "error"),
    [({"query_id": "q", "question": QUESTION, "date": "in May"}, BadTopics), (None, BadBenchmark)],
)
def test_an_unusable_date_or_paper_is_refused_with_file_and_line(records, tmp_path, line, error):
    first = {"query_id": "p", "question": QUESTION, "date": "2019-05-01"}
    topics = write_lines(tmp_path / "topics.jsonl", [first, *([line] if line else [])])
    papers = write_lines(tmp_path / "papers.jsonl", [{"id": "a b"} if line is None else {"id": "a"}])
    with pytest.raises(error, match=r"jsonl:[12]: "):
        records("finding-papers", "--papers", papers, topics=topics, qrels=qrels_of(tmp_path))


def qrels_of(folder):
    path = folder / "qrels.txt"
    path.write_text("p 0 rice 1\nq 0 rice 1\n")
    return path
