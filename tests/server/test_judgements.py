"""Judgements of readers: kept if enabled, refused if they name nothing in the index, and read by `eval`."""

import json

import pytest
from click.testing import CliRunner

from eval.collection import read_qrels, read_topics
from eval.judgements_command import judgements_command
from server.store import FILE, Store
from tests.generator.sample_index import NAME
from tests.server.running import add_key, application

QUESTION = "How does aerogel slow thermal runaway?"
FIRST, SECOND = "0f" * 16, "1e" * 16
SENTENCE = {
    "text": "Aerogel slows it.",
    "citations": ["SAMPLE-BAT-011", "SAMPLE-BAT-001@en"],
    "check": "supported",
}


@pytest.fixture
def enabled(home):
    with application(home, judgements=True) as client:
        yield client


def judge(client, verdict, **judged):
    return client.post("/api/v1/judgements", json={"question": QUESTION, "verdict": verdict, **judged})


def kept(home):
    return [json.loads(record) for (record,) in Store(home).rows("SELECT record FROM judgements ORDER BY id")]


def test_a_judgement_is_kept_with_its_day_and_nothing_of_the_caller(enabled, home):
    answered = judge(enabled, "helpful", paper="SAMPLE-BAT-011", reader=FIRST)

    assert answered.status_code == 204
    with application(home) as client:  # the operator has not enabled it
        assert judge(client, "helpful", paper="SAMPLE-BAT-011").status_code == 403
    [record] = kept(home)
    assert len(record.pop("day")) == len("2026-01-31")
    assert record == {
        "question": QUESTION,
        "place": NAME,
        "verdict": "helpful",
        "reader": FIRST,
        "paper": "SAMPLE-BAT-011",
        "sentence": None,
        "written_by": "",
    }


def test_judgements_become_topics_qrels_and_judged_citations(enabled, home, tmp_path):
    for paper, reader, verdict in (
        ("SAMPLE-BAT-011", FIRST, "not helpful"),
        ("SAMPLE-BAT-011", FIRST, "helpful"),
        ("SAMPLE-BAT-011", SECOND, "helpful"),
        ("SAMPLE-BAT-001", FIRST, "helpful"),
        ("SAMPLE-BAT-001", SECOND, "not helpful"),
        ("SAMPLE-BAT-002", FIRST, "not helpful"),
    ):
        judge(enabled, verdict, paper=paper, reader=reader)
    judge(enabled, "not supported", sentence=SENTENCE, reader=FIRST, written_by="extractive")
    judge(enabled, "helpful", reader=FIRST, written_by="extractive")
    saved = tmp_path / "saved.jsonl"
    key = add_key(home, role="operator")
    with application(home, judgements=True, headers={"X-API-Key": key}) as operator:
        saved.write_bytes(operator.get("/api/v1/judgements").content)

    done = [
        CliRunner().invoke(judgements_command, [str(file), "--out", str(tmp_path), "--json"])
        for file in (saved, home / FILE)
    ]

    assert done[0].stdout == done[1].stdout
    assert json.loads(done[0].stdout) == {
        "judgements": 7,
        "questions": 1,
        "papers": 2,
        "sentences": 1,
        "answers": {"extractive": [1, 0]},
        "checks": {"compared": 1, "agreement": 0.0, "kappa": 0.0},
    }
    [(query_id, question)] = read_topics(tmp_path / "topics.jsonl").items()
    assert question == QUESTION
    # The readers disagree on SAMPLE-BAT-001.
    assert read_qrels(tmp_path / "qrels.txt") == {query_id: {"SAMPLE-BAT-011": 1, "SAMPLE-BAT-002": 0}}
    [citation] = map(json.loads, (tmp_path / "citations.jsonl").read_text().splitlines())
    assert citation == {
        "question": QUESTION,
        "sentence": SENTENCE["text"],
        "citations": SENTENCE["citations"],
        "check": "supported",
        "written_by": "extractive",
        "supported": 0,
        "not_supported": 1,
    }
