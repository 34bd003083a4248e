"""What a caller of the API relies on, asked of the real sample."""

import asyncio
import io
import json
import re

import docx
import pytest

from server.addresses import paper_address
from tests.generator.sample_index import ENGLISH, KOREAN, NAME

# What differs from call to call without a difference in what was found.
PASSING = {"milliseconds"}


def lasting(record):
    return {key: value for key, value in record.items() if key not in PASSING}


def post(api, path, **call):
    response = api.post(f"/api/v1/{path}", json=call)
    assert response.status_code == 200, response.text
    return response


def get(api, path, **call):
    response = api.get(f"/api/v1/{path}", params=call)
    assert response.status_code == 200, response.text
    return response


@pytest.mark.parametrize("path", ["search", "ask", "explain", "facets"])
def test_a_call_by_address_gives_the_same_as_one_by_body(api, path):
    call = {
        "question": ENGLISH,
        "year": "2015..2024",
        "exclude": ["swelling", "고체"],
        "keywords": ["cell", "thermal runaway"],
        "strategy": {"ko": ["열폭주"], "years": [2016, None]},
    } | ({"passage_id": "SAMPLE-BAT-011"} if path == "explain" else {})
    in_address = call | {"strategy": json.dumps(call["strategy"])}
    assert lasting(get(api, path, **in_address).json()) == lasting(post(api, path, **call).json())


def test_an_edited_strategy_is_searched_for_in_its_order_and_returned(api):
    planned = post(api, "queries", question=ENGLISH).json()
    strategy = planned["strategy"]
    assert strategy["origin"] == "statistics"
    assert post(api, "keywords", question=ENGLISH).json()["strategy"] == strategy
    edited = [strategy["en"][1], strategy["en"][0], "aerogel"]
    given = {"en": edited, "exclude": [{"en": "cooling plate"}], "years": [2015, None], "origin": "person"}
    again = post(api, "queries", question=ENGLISH, strategy=given).json()
    found = post(api, "search", question=ENGLISH, strategy=given).json()
    assert found["strategy"] == again["strategy"] == given | {"ko": [], "steps": []}
    assert found["applied"]["strategist"] == "person"
    assert min(hit["year"] for hit in found["hits"]) >= 2015
    sent = [(query["name"], query["query"]) for query in found["queries"]]
    plan = [(query["name"], query["query"]) for query in again["queries"]]
    assert sent[: len(plan)] == plan
    assert dict(sent)["SQ1"] == edited[0].split()[0]
    assert [hit["doc_id"] for hit in found["hits"]] != [
        hit["doc_id"] for hit in post(api, "search", question=ENGLISH).json()["hits"]
    ]


async def fail(*_):
    raise OSError("the file cannot be read")


async def hang(*_):
    await asyncio.Event().wait()


@pytest.mark.parametrize("counting", [None, fail, hang])
def test_hits_have_the_counts_of_facets_unless_counting_fails_or_takes_too_long(api, monkeypatch, counting):
    call = {"question": ENGLISH, "lang": "en"}
    without, counts = post(api, "search", **call).json(), post(api, "facets", **call).json()
    if counting:
        monkeypatch.setattr("server.routes.search.COUNTED_IN_S", 0)  # it takes too long at once
        monkeypatch.setattr("server.routes.search.counted", counting)
    found = post(api, "search", **call, facets=True).json()
    assert {"index": NAME, **found.pop("facets", {})} == ({"index": NAME} if counting else counts)
    assert lasting(found) == lasting(without)


def test_a_recorded_search_runs_again_and_finds_the_same(api):
    call = {"question": ENGLISH, "k": 5, "keywords": ["cell", "aerogel"], "year": "2015.."}
    saved = json.loads(post(api, "record", **call).content)
    again = post(api, "rerun", **saved).json()
    assert again["comparison"]["same"]
    assert again["comparison"]["changed"] == []
    assert again["record"]["hits"] == saved["hits"]
    assert again["result"]["hits"] == post(api, "search", **call).json()["hits"]
    assert [hit["doc_id"] for hit in saved["hits"]] == [
        hit["doc_id"] for hit in post(api, "search", **call).json()["hits"]
    ]
    report = api.post("/api/v1/record", params={"form": "markdown"}, json=call)
    assert report.headers["content-type"] == "text/markdown; charset=utf-8"
    assert ENGLISH in report.text


def test_papers_and_answers_are_exported_with_references_in_a_style(api):
    ids = ["SAMPLE-AGR-002", "SAMPLE-AGR-001"]
    response = get(api, "export", format="text", cite="apa", ids=ids)
    assert [line[:15] for line in response.text.splitlines()] == ["Jang, B. (2023)", "강가은. (2020). 논물"]
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="sample.txt"'

    asked = post(api, "ask", question=KOREAN).json()
    answer = asked["answer"] | {"question": KOREAN}
    response = post(api, "export", format="docx", cite="korean", answer=answer, evidence=asked["evidence"])
    assert response.headers["content-type"].endswith("wordprocessingml.document")
    texts = [paragraph.text for paragraph in docx.Document(io.BytesIO(response.content)).paragraphs]
    assert texts[:2] == ["도움이 될 만한 구절", KOREAN]
    assert texts[2].startswith(f"“{asked['answer']['sentences'][0]['text']}” (")
    assert "참고 문헌" in texts


LISTED = re.compile(r'<a href="(/papers/[^"]+)" lang')


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        ({"k": 3}, {"k": 3}),
        ({"strategy": '{"en": ["cell", "aerogel"]}'}, {"strategy": {"en": ["cell", "aerogel"]}}),
        ({"skip": ["SQ1", "question"]}, {"skip": ["SQ1", "question"]}),
        ({"not": ["cooling plate"]}, {"exclude": ["cooling plate"]}),
        (
            {"q": f"{ENGLISH} -aerogel", "literal": "1"},
            {"question": f"{ENGLISH} -aerogel", "conditions": False},
        ),
    ],
)
def test_without_scripts_an_address_lists_what_it_does_with_them(api, asked, called):
    found = api.post("/api/v1/search", json={"question": ENGLISH} | called).json()
    expected = [
        paper_address(hit["doc_id"], found["index"], hit["passage_id"]).replace("&", "&amp;")
        for hit in found["hits"]
    ]
    page = api.get("/plain", params={"q": ENGLISH} | asked)
    assert page.status_code == 200
    assert LISTED.findall(page.text) == expected
