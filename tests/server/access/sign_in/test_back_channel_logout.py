"""The provider ends the sessions of a person who has signed out there, and nobody else does."""

import json
import time
from typing import Any

import pytest

from server.access.sign_in.provider import LOGOUT_EVENT
from tests.server.access.sign_in.openid_provider import CLIENT, FORGED, signed
from tests.server.access.sign_in.test_sign_in import (
    cookies_of,
    has_access,
    settings_for,
    signed_in,
    with_access,
)
from tests.server.running import application

ADDRESS = "/sign-in/back-channel-logout"


@pytest.fixture
def browser(shared_home, provider, tmp_path):
    sign_in = settings_for(provider, shared_home, groups={"students": "reader"})
    given = {"public_url": "http://localhost", "audit_file": tmp_path / "audit.jsonl"}
    with application(shared_home, sign_in=sign_in, **given) as client:
        client.follow_redirects = False
        yield client


def claims_for(provider, **changed):
    """Return the claims of a logout token; None removes one."""
    now = int(time.time())
    ordinary = {
        "iss": provider.issuer,
        "aud": [CLIENT],
        "sub": "p-1",
        "sid": "a session of the provider",
        "iat": now,
        "exp": now + 120,
        "jti": "1",
        "events": {LOGOUT_EVENT: {}},
    }
    return {name: value for name, value in (ordinary | changed).items() if value is not None}


def log_out(browser, token):
    """Call as the provider does, which has no cookie."""
    kept = dict(browser.cookies)
    browser.cookies.clear()
    answer = browser.post(ADDRESS, data={"logout_token": token} if token else {})
    browser.cookies.update(kept)
    return answer


def test_all_sessions_of_the_person_end_and_those_of_others_do_not(browser, provider, tmp_path):
    cookies = cookies_of(browser, provider, "p-1", "p-1", "p-2")
    browser.cookies.set("shrag", cookies[0])
    person = browser.get("/api/v1/session").json()["person"]

    answer = log_out(browser, signed(claims_for(provider), typ="logout+jwt"))

    assert (answer.status_code, answer.content, answer.headers["cache-control"]) == (200, b"", "no-store")
    browser.cookies.clear()
    assert with_access(browser, cookies) == [False, False, True]
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    (line,) = [each for each in lines if each.get("event") == "back-channel sign-out"]
    assert (line["status"], line["person"]) == (200, person)


NOW = int(time.time())
WRONG: dict[str, tuple[Any, ...]] = {
    "iss": ("https://elsewhere.example.org", None),
    "aud": ("another", None, f"{CLIENT}-and-more"),
    "iat": (NOW - 3_600, NOW + 3_600, None, True, str(NOW)),
    "exp": (NOW - 600,),
    "jti": (None,),
    "events": (None, {}, [LOGOUT_EVENT]),
    "nonce": ("n",),
    "sub": (None, ["p-1"]),
    "": tuple(FORGED.values()),  # signed by others
}


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize(
    ("claim", "value"),  # with ids that do not contain the time
    [pytest.param(claim, each, id=f"{claim}-{n}") for claim in WRONG for n, each in enumerate(WRONG[claim])],
)
def test_a_wrong_token_ends_no_session(browser, provider, claim, value):
    signed_in(browser, provider)
    made = claims_for(provider, **({claim: value} if claim else {}))

    answer = log_out(browser, signed(made) if claim else value(made))

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert not claim or f"({claim})" in answer.json()["error_description"]
    assert has_access(browser)


@pytest.mark.parametrize("number", [0, 2])
def test_the_body_has_one_token(browser, provider, number):
    signed_in(browser, provider)

    answer = log_out(browser, [signed(claims_for(provider), typ="logout+jwt")] * number)

    assert (answer.status_code, has_access(browser)) == (400, True)
    assert answer.json()["error_description"] == "the body needs one logout_token"
