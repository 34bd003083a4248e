"""What a caller of the API relies on, asked of the real sample."""

import asyncio
import json

import pytest

from tests.generator.sample_index import ENGLISH, KOREAN, NAME, SEARCH_KEYS, UNANSWERABLE_KOREAN

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


def test_an_export_by_address_is_the_same_file_as_one_by_body(api):
    call = {"question": KOREAN, "format": "csl-json", "k": 4}
    by_address, by_body = get(api, "export", **call), post(api, "export", **call)
    assert by_address.content == by_body.content
    assert by_address.headers["content-disposition"] == by_body.headers["content-disposition"]


def test_a_search_holds_what_the_command_prints_and_which_index_answered(api):
    found = post(api, "search", question=KOREAN).json()
    assert found.keys() == {"index", "fingerprint", *SEARCH_KEYS}
    assert found["index"] == NAME
    assert found["hits"][0]["rank"] == 1
    assert "milliseconds" in found


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


def test_the_model_cannot_write_a_strategy_where_there_is_none(api):
    for path in ("search", "keywords", "record", "ask"):
        refused = api.post(f"/api/v1/{path}", json={"question": ENGLISH, "strategist": "model"})
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown-model")


def test_queries_that_are_left_out_are_neither_sent_nor_found_by(api):
    found = post(api, "search", question=ENGLISH, skip=["question", "SQ1"]).json()
    names = {query["name"] for query in found["queries"]}
    assert names
    assert not names & {"question", "SQ1"}
    assert not {name for hit in found["hits"] for name in hit["found_by_names"]} & {"question", "SQ1"}
    assert found["applied"]["skip"] == ["question", "SQ1"]


def test_the_parts_of_an_explanation_add_up_to_the_score_of_the_hit(api):
    hit = post(api, "search", question=ENGLISH).json()["hits"][0]
    explained = post(api, "explain", question=ENGLISH, passage_id=hit["passage_id"]).json()
    parts = [part["contribution"] for part in explained["features"].values()]
    assert sum(parts) == pytest.approx(explained["order_score"])
    assert explained["order_score"] == pytest.approx(hit["score"], abs=1e-4)
    assert explained["rank"] == hit["rank"]
    asked = sum(term["score"] for term in explained["terms"] if term["field"] == "question")
    assert asked == pytest.approx(explained["features"]["question"]["contribution"])


def test_a_search_with_facets_has_the_counts_that_the_call_for_facets_gives(api):
    call = {"question": ENGLISH, "lang": "en"}
    found = post(api, "search", **call, facets=True).json()

    assert {"index": NAME, **found["facets"]} == post(api, "facets", **call).json()
    assert "facets" not in post(api, "search", **call).json()


async def fail(*_):
    raise OSError("the file cannot be read")


async def hang(*_):
    await asyncio.Event().wait()


@pytest.mark.parametrize("counting", [fail, hang])
def test_hits_are_sent_without_facets_where_counting_fails_or_takes_too_long(api, monkeypatch, counting):
    call = {"question": ENGLISH, "facets": True}
    expected = lasting(post(api, "search", **call).json())
    monkeypatch.setattr("server.routes.search.COUNTED_IN", 0)  # it takes too long at once
    monkeypatch.setattr("server.routes.search.counted", counting)
    found = lasting(post(api, "search", **call).json())

    assert found == {name: value for name, value in expected.items() if name != "facets"}


def test_a_hit_leads_to_its_paper_and_its_passage(api):
    hit = post(api, "search", question=KOREAN).json()["hits"][0]
    paper = get(api, f"papers/{hit['doc_id']}").json()
    passage = get(api, f"passages/{hit['passage_id']}").json()
    assert paper["doc_id"] == passage["doc_id"] == hit["doc_id"]
    assert passage["title"] == hit["title"]
    assert {key: passage[key] for key in ("passage_id", "part", "lang", "title", "text")} in paper["passages"]
    assert passage["record"] == paper["record"]
    assert hit["doc_id"] not in {other["doc_id"] for other in paper["similar"]}


@pytest.mark.parametrize("form", ["ris", "bibtex", "csl-json", "csv", "jsonl"])
def test_marked_papers_and_all_results_are_exported_in_the_order_asked_for(api, form):
    hits = post(api, "search", question=ENGLISH, k=3).json()["hits"]
    marked = [hit["doc_id"] for hit in reversed(hits)]
    titles = [hit["title"] for hit in hits]
    of_ids = post(api, "export", format=form, ids=marked).text
    of_search = post(api, "export", format=form, question=ENGLISH, k=3).text
    assert places(of_search, titles) == sorted(places(of_search, titles))
    assert places(of_ids, titles) == sorted(places(of_ids, titles), reverse=True)


def places(text, titles):
    """Tell where each title stands, by its longest word: formats write some signs in their own way."""
    found = [text.find(max(title.split(), key=len)) for title in titles]
    assert min(found) >= 0
    return found


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


def test_an_answer_cites_its_evidence_alone_and_says_when_there_is_none(api):
    answered = post(api, "ask", question=ENGLISH).json()
    evidence = {hit["passage_id"] for hit in answered["evidence"]}
    cited = {each for sentence in answered["answer"]["sentences"] for each in sentence["citations"]}
    assert cited
    assert cited <= evidence
    assert answered["answer"]["written_by"] == "extractive"
    assert not answered["answer"]["abstained"]
    assert post(api, "ask", question=UNANSWERABLE_KOREAN).json()["answer"]["abstained"]


@pytest.mark.parametrize("question", ["the of and", "🙂🎉", "??!", "\u200b\u200d"])
def test_a_question_without_words_finds_nothing_and_says_so(api, question):
    for path in ("search", "ask", "keywords", "queries", "facets"):
        assert post(api, path, question=question).json()["index"] == NAME
    found = post(api, "search", question=question).json()
    assert found["hits"] == []
    assert found["notes"]
    answered = post(api, "ask", question=question).json()
    assert answered["answer"]["abstained"]
    assert answered["evidence"] == []


def test_an_answer_by_a_way_over_passages_keeps_to_its_topic(api):
    call = {"question": ENGLISH, "way": "paper-qa-6", "topic": "SAMPLE-BAT-011"}
    found = post(api, "ask", **call).json()
    assert [hit["passage_id"] for hit in found["evidence"]] == ["SAMPLE-BAT-011"]
    assert lasting(get(api, "ask", **call).json()) == lasting(found)


@pytest.mark.parametrize(
    ("call", "status", "code"),
    [
        ({"way": "paper-qa-1", "topic": "nowhere"}, 404, "unknown-paper"),
        ({"way": "shrag", "topic": "SAMPLE-BAT-011"}, 422, "bad-filter"),
        ({"way": "paper-qa-1", "skip": ["SQ1"]}, 422, "bad-filter"),
        ({"way": "paper-qa-9"}, 422, "unknown-way"),
    ],
)
def test_a_topic_or_way_that_cannot_be_used_is_one_problem(api, call, status, code):
    response = api.post("/api/v1/ask", json={"question": ENGLISH} | call)
    assert (response.status_code, response.json()["code"]) == (status, code)
