"""Combinations of parts that a call refuses: each that the description names is refused, with its reason."""

import pytest

from tests.generator.sample_index import ENGLISH

ASKED = {"question": ENGLISH}
ANSWER = {"sentences": [{"text": "a", "section": "body", "check": "supported"}]}
PAPER = {"ids": ["SAMPLE-BAT-011"]}


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("search", ASKED | {"index": "sample", "sources": ["library"]}),
        ("queries", ASKED | {"index": "sample", "sources": ["library"]}),
        ("ask", ASKED | {"index": "sample", "sources": ["library"]}),
        ("ask", ASKED | {"way": "paper-qa-2", "strategy": {"ko": ["배터리"]}}),
        ("export", {"format": "ris"}),
        ("export", {"format": "ris"} | ASKED | PAPER),
        ("export", {"format": "docx", "answer": ANSWER}),
        ("export", {"format": "ris", "cite": "apa"} | PAPER),
        ("export", {"format": "docx", "k": 201} | ASKED),
        ("find-papers", {}),
        ("find-papers", ASKED | {"index": "sample", "sources": ["library"]}),
    ],
)
def test_a_combination_that_the_description_names_is_refused(api, call, body):
    described = api.get("/openapi.json").json()["paths"][f"/api/v1/{call}"]["post"]["description"]
    assert "Refused with 422: " in described
    assert api.post(f"/api/v1/{call}", json=body).status_code == 422


@pytest.mark.parametrize(
    "body", [ASKED | {"index": "sample", "sources": []}, ASKED | {"way": "paper-qa-1", "hops": "never"}]
)
def test_empty_lists_and_taken_options_are_answered(api, body):
    assert api.post("/api/v1/ask", json=body).status_code == 200
