"""Errors as problem details, in OpenAI's format and as exit codes: each class says its own."""

import errno

import pytest

from base.errors import InvalidCall, ResourceError, UnknownPath
from eval.errors import BadMeasure, BadRun
from generator.errors import ModelFailed, UnknownWay
from indexer.errors import EngineUnreachable, IndexDamaged, UnknownIndex
from retriever.errors import BadExpression, BadFilter, SourceFailed
from server.errors import BadRequest, NotProtected, QuotaUsed, StoreUnusable, TooBusy, Unauthorized
from server.problems import in_openai_format, problem
from shrag import _outcome

FULL = OSError(errno.ENOSPC, "No space left on device", "/var/shrag")


@pytest.mark.parametrize(
    ("error", "status", "code", "detail", "openai", "exit_code"),
    [
        (BadRequest("k: no", place="body.k"), 422, "bad-request", "k: no", (400, "invalid_value", "k"), 1),
        (UnknownIndex("no index"), 404, "unknown-index", "no index", (404, "model_not_found", "model"), 2),
        (InvalidCall("both"), 422, "invalid-call", "both", (400, "invalid_call", None), 2),
        (BadFilter("soon"), 422, "bad-filter", "soon", (400, "bad_filter", None), 2),
        (BadExpression("odd", "a (", 2), 422, "bad-expression", "odd", (400, "bad_expression", None), 2),
        (UnknownWay("no way"), 422, "unknown-way", "no way", (400, "unknown_way", None), 2),
        (SourceFailed("silent"), 502, "source-failed", "silent", (502, "source_failed", None), 1),
        (Unauthorized("a key"), 401, "key-needed", "a key", (401, "invalid_api_key", None), 1),
        (TooBusy("later", retry_after_s=2), 429, "too-busy", "later", (429, "rate_limit_exceeded", None), 1),
        (QuotaUsed("day", retry_after_s=2), 429, "quota-used", "day", (429, "insufficient_quota", None), 1),
        (StoreUnusable("/etc/k"), 503, "keys-unreadable", "keys and", (503, "keys_unreadable", None), 1),
        (IndexDamaged("/a"), 503, "index-damaged", "the index is damaged", (503, "index_damaged", None), 1),
        (EngineUnreachable("h:9"), 503, "engine-unreachable", "the search engine does not", None, 1),
        (ModelFailed("http://h"), 502, "model-failed", "the language model failed", None, 1),
        (ResourceError("/var/x"), 500, "index", "the index cannot be used", (500, "index", None), 1),
        (UnknownPath("/var/x"), 500, "index", "the index cannot be used", None, 2),
        (FULL, 500, "index", "the index cannot be used", None, 1),
        (NotProtected("/var/x"), 500, "unexpected", "an unexpected error", None, 2),
        (BadRun("/var/x"), 500, "unexpected", "an unexpected error", None, 1),
        (BadMeasure("/var/x"), 500, "unexpected", "an unexpected error", None, 2),
        (KeyError("/var/x"), 500, "unexpected", "an unexpected error", (500, "unexpected", None), 1),
    ],
)
def test_an_error_is_one_problem_one_openai_error_and_one_exit_code(
    error, status, code, detail, openai, exit_code
):
    described = problem(error)
    assert (described["status"], described["code"]) == (status, code)
    assert described["detail"].startswith(detail)
    assert "/var" not in str(described)
    if openai:
        openai_status, body = in_openai_format(described)
        assert (openai_status, body["error"]["code"], body["error"]["param"]) == openai
    assert _outcome(error)[0] == exit_code


def test_the_time_to_wait_and_the_position_are_fields():
    assert problem(TooBusy("later", retry_after_s=2))["retry_after_s"] == 2
    assert problem(BadExpression("odd", "a (", 2))["position"] == 2
    assert problem(BadRequest("k: no", place="body.k"))["place"] == "body.k"
