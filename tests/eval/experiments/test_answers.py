"""Experiments on answers: citations, abstention, models, and the ways of paper-QA."""

import json
import re

import pytest

from base.errors import InvalidCall
from eval.errors import BadTopics
from generator.errors import UnknownWay
from tests import fixture_model
from tests.eval.experiments.calling import SAMPLE, call, read, table_of, topics_of, write_lines
from tests.generator.sample_index import ENGLISH, UNANSWERABLE_ENGLISH
from tests.indexer.made_corpora import build

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib

PAPER = "SAMPLE-BAT-011"  # answers ENGLISH
QUOTED, MODEL = "quoted sentences", fixture_model.MODEL
CITATIONS = "Citations of the answers"
FULL_TEXTS = SAMPLE / "full-texts"
QUESTIONS = FULL_TEXTS / "questions.jsonl"


@pytest.fixture
def run(on_sample, tmp_path):
    """Run the experiment on two topics: one that PAPER answers, and one without a relevant paper."""
    topics, qrels, strings = tmp_path / "topics.tsv", tmp_path / "qrels.txt", tmp_path / "answers.jsonl"
    topics.write_text(f"Q1\t{ENGLISH}\nQ2\t{UNANSWERABLE_ENGLISH}\n")
    qrels.write_text(f"Q1 0 {PAPER} 2\nQ1 0 SAMPLE-BAT-003 0\n")
    strings.write_text('{"query_id": "Q1", "answers": ["cooling plate"]}\n')
    return lambda *options: call(
        "answers", topics, qrels, "--answers", strings, "--out", tmp_path / "made", *options
    )


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
        return {"title": "Aerogel", "body": body, "answered": bool(right)}

    monkeypatch.setitem(fixture_model.ANSWERS, "answer", answer)


def systems_of(tmp_path):
    return [topic["rows"] for topic in topics_of(tmp_path / "made").values()]


def test_topics_without_a_relevant_paper_are_asked_and_declined(run, tmp_path):
    assert run("--removed").exit_code == 0
    first, second = topics_of(tmp_path / "made").values()
    answer = first["rows"][QUOTED]
    assert (first["relevant"], answer["answered"]) == (1, True)
    assert (answer["relevant_evidence"], answer["relevant_cited"], answer["right"]) == (1, 1, True)
    assert (second["relevant"], second["rows"][QUOTED]["answered"]) == (0, False)
    assert second["rows"][QUOTED]["right"] is None
    cells = list(table_of(tmp_path / "made", "Likelihood of an answer")[QUOTED].values())
    assert cells[1:] == [1, 0.25, 0.5, 0]  # AURC: mean of 0 and 1/2
    assert first["removed"]["likelihood"] < answer["likelihood"]
    row = table_of(tmp_path / "made", "Answered and declined")[f"{QUOTED}, relevant papers removed"]
    assert (row["topics with relevant papers"], row["topics without"]) == (1, 1)


def test_citation_measures_are_those_of_alce(run, written, monkeypatch, tmp_path):
    def check(prompt, _):
        sentences = fixture_model.items_of("sentence", prompt)
        verdicts = {n: "unsupported" if "94 s" in text else "supported" for n, text in sentences.items()}
        return {"judgements": [{"sentence": n, "verdict": verdict} for n, verdict in verdicts.items()]}

    monkeypatch.setitem(fixture_model.ANSWERS, "check", check)
    assert run("--model").exit_code == 0
    judged = [each["judged"] for each in systems_of(tmp_path)[0][MODEL]["sentences"]]
    assert [each["verdict"] for each in judged] == ["supported", "unsupported", "unsupported", "supported"]
    assert [each["precise"] for each in judged] == [[True], [False], [], [True]]
    main = read(tmp_path / "made" / "metrics.json")["main"]
    assert main[f"citation recall, {MODEL}"] == 2 / 4
    assert main[f"citation precision, {MODEL}"] == pytest.approx(2 / 3)
    row = table_of(tmp_path / "made", CITATIONS)[MODEL]
    assert (row["unsupported"], row["without citation"], row["not judged"]) == (2, 1, 0)
    assert "check.en version 1" in read(tmp_path / "made" / "manifest.json")["judges"][CITATIONS]


def test_failed_judgements_and_answers_are_counted(run, written, monkeypatch, tmp_path):
    monkeypatch.setitem(fixture_model.ANSWERS, "check", lambda *_: {"judgements": "none"})
    assert run("--model").exit_code == 0
    assert table_of(tmp_path / "made", CITATIONS)[MODEL]["not judged"] == 3
    monkeypatch.setitem(fixture_model.ANSWERS, "answer", lambda *_: {"body": 1})
    assert run("--model", "--restart").exit_code == 0
    assert systems_of(tmp_path)[0][MODEL]["fallbacks"] == ["answer"]
    assert table_of(tmp_path / "made", CITATIONS)[MODEL]["failed calls"] == 2


@pytest.fixture(scope="module")
def full_texts(tmp_path_factory):
    home = tmp_path_factory.mktemp("full-texts")
    build(home, FULL_TEXTS, name="full-texts")
    return home


@pytest.fixture
def ask(full_texts, monkeypatch, tmp_path):
    """Ask some questions of the sample by ways; return the rows by query_id."""
    monkeypatch.setenv("SHRAG_HOME", str(full_texts))

    def rows_of(query_ids, *arguments, **changed):
        lines = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
        chosen = (line | changed for line in lines if line["query_id"] in query_ids)
        path = write_lines(tmp_path / "questions.jsonl", *chosen)
        assert call("paper-qa", path, *arguments, "--out", tmp_path / "made").exit_code == 0
        return {query_id: topic["rows"] for query_id, topic in topics_of(tmp_path / "made").items()}

    return rows_of


def test_a_row_for_each_way_has_accuracy_rouge_and_counts(ask, tmp_path):
    rows = ask(["P03", "P18", "P20"])
    assert list(rows["P03"]) == [f"paper-qa-{number}" for number in range(1, 9)]
    assert rows["P03"]["paper-qa-1"]["accepted"] is True
    assert [rows["P20"][f"paper-qa-{way}"]["filled in"] for way in (1, 2)] == [0, 5]
    assert {row["judged"] for of in rows.values() for row in of.values()} == {None}
    table = table_of(tmp_path / "made", "accuracy by accepted strings")
    assert table["published: paper-qa-1"]["ROUGE-L"] == 0.1749
    assert (table["paper-qa-1"]["K1"], table["paper-qa-1"]["K2"], table["paper-qa-3"]["K3"]) == (5, None, 5)
    assert len((tmp_path / "made" / "runs" / "paper-qa-2.trec").read_text().splitlines()) == 15


def test_a_language_model_writes_and_judges_the_answers(ask, model):
    found = ask(["P01"], "--way", "paper-qa-8", "--model")["P01"]["paper-qa-8"]
    assert (found["written_by"], found["fallbacks"]) == ("fixture", [])
    assert (found["judged"], found["why"]) == ("correct", "Judged by shared words.")
    assert ask(["P03"], "--way", "shrag,paper-qa-1", "--restart")["P03"]["shrag"]["k"] == []  # without topic


@pytest.mark.parametrize(
    ("error", "part", "changed", "arguments"),
    [
        (BadTopics, "P03: .*no-such-paper", {"topic": "no-such-paper"}, ()),
        (BadTopics, "questions.jsonl:1: answers", {"answers": []}, ()),
        (UnknownWay, "paper-qa-9", {}, ("--way", "paper-qa-9")),
    ],
)
def test_unusable_questions_and_ways_are_refused(ask, error, part, changed, arguments):
    with pytest.raises(error, match=part):
        ask(["P03"], *arguments, **changed)


@pytest.mark.parametrize(
    ("name", "content", "options", "part"),
    [
        ("qrels.txt", f"Q9 0 {PAPER} 2\n", (), "has a relevant judgement"),
        ("answers.jsonl", "{}\n", (), r"answers\.jsonl:1: "),
        ("topics.tsv", f"Q1\t{ENGLISH}\n", ("--models", "one"), "--models"),
    ],
)
def test_unusable_inputs_and_options_are_named(run, tmp_path, name, content, options, part):
    (tmp_path / name).write_text(content)
    try:
        said = run(*options).output
    except (InvalidCall, BadTopics) as error:
        said = str(error)
    assert re.search(part, said)
