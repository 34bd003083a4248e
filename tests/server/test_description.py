"""The description of the API (OpenAPI) is true, also for calls that schemathesis makes of it."""

import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from server.description import EVENTS, FINDING_EVENTS
from server.problems import error_classes
from tests.generator.sample_index import ENGLISH
from tests.indexer.made_corpora import ROOT
from tests.server.running import START_S, add_key, application, events_of

COMPONENTS = "#/components/schemas/"
STREAM = "text/event-stream"


@pytest.fixture(scope="module")
def description(api):
    return closed(api.get("/openapi.json").json())


def closed(part):
    """Return a schema whose objects have no properties but those described."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {name: closed(value) for name, value in part.items()}
    return {"additionalProperties": False, **made} if "properties" in made else made


def operations(description):
    for path, calls in description["paths"].items():
        if path.startswith(("/api/v1/", "/healthz", "/readyz", "/metrics")):
            for method, call in calls.items():
                yield method, path, call


def assert_as_described(description, schema, value):
    validator = Draft202012Validator({**schema, "components": description["components"]})
    assert [error.message for error in validator.iter_errors(value)] == []


def assert_answered(description, method, path, answer):
    assert answer.is_success, answer.text
    response = description["paths"][path][method]["responses"][str(answer.status_code)]
    (content,) = response["content"].values()
    assert_as_described(description, content["schema"], answer.json())


def test_each_call_has_a_name_of_its_own_a_summary_and_its_refusals(description):
    names = [call["operationId"] for _, _, call in operations(description)]
    assert len(names) == len(set(names))
    assert {"search_get", "search_post", "ask_get", "ask_post", "papers_one_get"} <= set(names)
    for _, _, call in operations(description):
        assert re.fullmatch(r"[a-z][a-z_]+", call["operationId"])
        assert call["summary"]
        assert {"404", "422", "429", "500", "503"} <= call["responses"].keys()
        for status, response in call["responses"].items():
            if not status.startswith("2"):
                assert list(response["content"]) == ["application/problem+json"]


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/api/v1/ask", {"step", "keywords", "queries", "evidence", "sentence", "done"}),
        ("/api/v1/find-papers", {"search", "step", "understanding", "queries", "papers", "spent", "done"}),
    ],
)
def test_each_event_of_a_stream_is_as_described(description, api, path, named):
    content = description["paths"][path]["post"]["responses"]["200"]["content"]
    described = {
        each["properties"]["event"]["const"]: each["properties"]["data"]["contentSchema"]
        for each in content[STREAM]["itemSchema"]["oneOf"]
    }
    response = api.post(path, json={"question": ENGLISH}, headers={"Accept": STREAM})
    events = list(events_of(response.text.splitlines()))
    assert named <= {each.name for each in events}
    for event in events:
        assert_as_described(description, described[event.name], event.data)


def test_kept_searches_are_as_described(description, api):
    call = {"question": "cobalt of spent batteries: a review", "rounds": 2, "layers": 3, "threshold": 0.2}
    found = api.post("/api/v1/find-papers", json=call)
    assert_as_described(description, {"$ref": f"{COMPONENTS}FoundPapers"}, found.json())
    for part in ("{search_id}", "{search_id}/state", "kept"):
        path = f"/api/v1/find-papers/{part}"
        assert_answered(description, "get", path, api.get(path.format(search_id=found.json()["search"])))


def test_the_documentation_names_each_code_and_each_event():
    page = (ROOT / "docs" / "how-to" / "api.md").read_text("utf-8")
    codes = {kind.code for kind in error_classes()} | {"unexpected"}
    assert [name for name in (*sorted(codes), *EVENTS, *FINDING_EVENTS) if f"`{name}`" not in page] == []


def test_what_an_operator_and_a_session_see_is_as_described(description, home):
    key = add_key(home, role="operator")
    with application(home, headers={"X-API-Key": key}) as client:
        for method, path, call in (
            ("post", "feeds", {"question": ENGLISH}),
            ("get", "feeds", None),
            ("get", "status", None),
            ("get", "session", None),
            ("post", "session", {"key": key}),
        ):
            answer = client.request(method, f"/api/v1/{path}", json=call)
            assert_answered(description, method, f"/api/v1/{path}", answer)
            assert key not in answer.text
        assert client.get("/metrics").headers["content-type"].startswith("text/plain")


EXAMPLES = int(os.environ.get("SHRAG_TEST_API_EXAMPLES", "1"))  # of each call, as described and spoilt
MISREAD = {"bad-request", "wrong-media-type"}


@pytest.mark.slow
@pytest.mark.needs_libraries
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_what_may_be_called_is_answered_as_described(unlimited, mode):
    import requests
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.core.result import Ok
    from schemathesis.specs.openapi import checks as of_openapi

    conformance = ("status_code", "content_type", "response_schema")
    checks = [not_a_server_error, *(getattr(of_openapi, f"{each}_conformance") for each in conformance)]
    schema = schemathesis.openapi.from_dict(unlimited.get("/openapi.json").json()).include(
        path_regex="^/(api/v1/(?!session|keys)|healthz|readyz|metrics)"  # those change the server
    )
    called = []
    with requests.Session() as session:

        def call(case):
            response = case.call(base_url=unlimited.url, session=session, timeout=START_S)
            case.validate_response(response, checks=checks)
            called.append(response.status_code)
            if mode == "positive" and response.status_code >= 400:
                # What fits the description is read; whether it can be used is another matter.
                assert response.json()["code"] not in MISREAD, response.json()

        for found in schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()
            if mode == "negative" and ("{" in operation.path or not (operation.query or operation.body)):
                continue  # whatever is written there fits
            strategy = operation.as_strategy(generation_mode=GenerationMode(mode))
            bounded = settings(
                max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
            )
            bounded(given(strategy)(call))()
    assert len(called) > 5 * EXAMPLES
    assert 200 in called or mode == "negative"
