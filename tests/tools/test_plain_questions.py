"""The plain questions in `sample/plain/`: balanced halves, and judgements that fit the papers."""

import json
from collections import Counter

import pytest

from base.sample import SAMPLE
from eval.collection import read_qrels
from tools.collections import read_lines

TOPICS = {topic["query_id"]: topic for topic in read_lines(SAMPLE / "plain" / "topics.jsonl")}
QRELS = read_qrels(SAMPLE / "plain" / "qrels.txt")
PAPERS = {
    name: {paper["id"]: paper for paper in read_lines(folder / "papers.jsonl")}
    for name, folder in (("sample", SAMPLE), ("held-out", SAMPLE / "held-out"))
}


def answering(topic):
    """Return the papers that answer a question."""
    judged = QRELS.get(topic["query_id"], {})
    return [PAPERS[topic["corpus"]][doc_id] for doc_id, grade in judged.items() if grade == 2]


@pytest.mark.parametrize("half", ["tune", "test"])
def test_each_half_has_the_same_composition(half):
    own = [topic for topic in TOPICS.values() if topic["half"] == half]
    assert Counter((topic["corpus"], topic["scope"], topic["language"]) for topic in own) == {
        ("sample", "in", "ko"): 15,
        ("sample", "in", "en"): 15,
        ("sample", "near", "ko"): 7,
        ("sample", "near", "en"): 8,
        ("sample", "far", "ko"): 8,
        ("sample", "far", "en"): 7,
        ("held-out", "in", "ko"): 10,
        ("held-out", "in", "en"): 10,
        **{("held-out", scope, language): 5 for scope in ("near", "far") for language in ("ko", "en")},
    }
    relevant = {doc for topic in own for doc, grade in QRELS.get(topic["query_id"], {}).items() if grade > 0}
    others = {
        doc
        for query_id, judged in QRELS.items()
        for doc, grade in judged.items()
        if grade > 0 and TOPICS[query_id]["half"] != half
    }
    assert relevant.isdisjoint(others)


def test_judgements_fit_scope_and_languages_of_a_question():
    assert len({topic["question"].casefold() for topic in TOPICS.values()}) == len(TOPICS) == 200
    for query_id, topic in TOPICS.items():
        judged = QRELS.get(query_id, {})
        assert judged.keys() <= PAPERS[topic["corpus"]].keys(), topic
        if topic["scope"] == "in":
            of = answering(topic)
            both = [
                {"title2", "abstract2"} & paper.keys() or paper["lang"] == topic["language"] for paper in of
            ]
            assert of, topic
            assert topic["cross_lingual"] is not any(both), topic
        else:
            assert set(judged.values()) == ({0} if topic["scope"] == "near" else set()), topic


def test_marked_findings_stand_in_papers_that_answer():
    for record in read_lines(SAMPLE / "plain" / "answers.jsonl"):
        texts = json.dumps(answering(TOPICS[record["query_id"]]), ensure_ascii=False)
        assert all(begin in texts for begin in record["answers"]), record
