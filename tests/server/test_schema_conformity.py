"""schemathesis makes the calls that the description offers, and spoilt ones: all are answered so."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.server.running import START_S

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
