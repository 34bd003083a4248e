"""Combinations of parts that a call refuses: the description rules them out, and nothing that is answered."""

from itertools import combinations

import pytest
from jsonschema import Draft202012Validator

from tests.generator.sample_index import ENGLISH

SEARCH = [
    {"question": ENGLISH},
    *({"method": method} for method in ("boolean", "or", "paper", "shrag")),
    {"keywords": ["battery"]},
    {"keywords": []},
    {"exclude": ["solid"]},
    {"strategy": {"ko": ["배터리"]}},
    {"strategy": None},
    {"conditions": False},
    {"skip": ["question"]},
    {"index": "sample"},
    {"index": None},
    {"year": "2019.."},
]
SOURCES = [{"sources": []}, {"sources": ["library"]}]
ASK = [
    *({"way": way} for way in ("shrag", "paper-qa-1", "paper-qa-2")),
    *({"hops": hops} for hops in ("never", "auto")),
    {"topic": "SAMPLE-BAT-011"},
    {"topic": None},
    {"evidence": 2},
]
# The parts that make a call, then those of which each two, and none, are added.
CALLS = {
    "search": ({"question": "battery", "k": 1}, SEARCH + SOURCES),
    "queries": ({"question": "battery", "k": 1}, SEARCH + SOURCES),
    "ask": ({"question": "battery"}, SEARCH + SOURCES + ASK),
    "export": (
        {"format": "ris", "k": 1},
        [
            *SEARCH,
            *SOURCES,
            {"ids": ["SAMPLE-BAT-011"]},
            {"ids": []},
            {"format": "docx"},
            {"cite": "apa"},
            {"cite": None},
            {"k": 201},
        ],
    ),
    "find-papers": (
        {"max_papers": 1},
        [{"question": ENGLISH}, {"question": None}, {"index": "sample"}, *SOURCES, {"resume": "0" * 32}],
    ),
}
# What depends on more than the parts of a call: the queries that a method makes, the index, the sources.
DEPENDS = {"no query", "no passage", "has none of these papers", "unknown-source", "unknown-search"}


def bodies(base, parts):
    for first, second in combinations([{}, {}, *parts], 2):
        yield {**base, **first, **second}


def of_settings(body, problem):
    """Tell whether a call is refused for the way or the steps that the server's settings choose."""
    return '"detail":"way ' in problem and not {"way", "hops"} <= body.keys()


@pytest.fixture(scope="module")
def document(api):
    return api.get("/openapi.json").json()


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_body_that_its_schema_rules_out_is_refused_and_no_other(api, document, call):
    media = document["paths"][f"/api/v1/{call}"]["post"]["requestBody"]["content"]["application/json"]
    schema = Draft202012Validator(media["schema"] | {"components": document["components"]})
    counted = {True: 0, False: 0}
    for body in bodies(*CALLS[call]):
        response = api.post(f"/api/v1/{call}", json=body)
        refused = response.status_code >= 400
        if refused and (any(word in response.text for word in DEPENDS) or of_settings(body, response.text)):
            continue
        assert schema.is_valid(body) is not refused, (body, response.text)
        counted[refused] += 1
    assert all(counted.values())


@pytest.mark.parametrize("call", sorted(CALLS.keys() - {"queries"}))
def test_what_an_address_may_not_combine_is_said_in_its_description(document, call):
    described = document["paths"][f"/api/v1/{call}"]["get"]["description"]
    assert "Refused with 422: " in described
    assert document["paths"][f"/api/v1/{call}"]["post"]["description"].endswith(
        described.partition("\n\n")[2]
    )


@pytest.mark.parametrize(
    "field",
    [
        {"n": 2},
        {"logprobs": True},
        {"top_logprobs": 3},
        {"modalities": ["audio"]},
        {"tool_choice": "required"},
    ],
)
def test_what_a_chat_program_may_not_ask_for_is_ruled_out_too(api, document, field):
    call = {"model": "sample", "messages": [{"role": "user", "content": "battery"}]}
    schema = Draft202012Validator(document["components"]["schemas"]["ChatCall"] | document)
    assert (schema.is_valid(call), schema.is_valid(call | field)) == (True, False)
    assert api.post("/v1/chat/completions", json=call | field).status_code == 400
