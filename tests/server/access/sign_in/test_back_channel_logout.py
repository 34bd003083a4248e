"""The provider ends the sessions of a person who has signed out there, and nobody else does."""

import json
import time

import pytest
from joserfc import jwk, jwt

from server.access.sign_in.provider import LOGOUT_EVENT
from tests.server.access.sign_in.openid_provider import CLIENT, FOREIGN, KEY, signed
from tests.server.access.sign_in.test_sign_in import has_access, settings_for, signed_in
from tests.server.running import application

ADDRESS = "/sign-in/back-channel-logout"


@pytest.fixture
def browser(home, provider, tmp_path):
    sign_in = settings_for(provider, home, groups={"students": "reader"})
    given = {"public_url": "http://localhost", "audit_file": tmp_path / "audit.jsonl"}
    with application(home, sign_in=sign_in, **given) as client:
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
    answer = browser.post(ADDRESS, data={"logout_token": token})
    browser.cookies.update(kept)
    return answer


def test_all_sessions_of_the_person_end_and_those_of_others_do_not(browser, provider, tmp_path):
    cookies = []
    for subject in ("p-1", "p-1", "p-2"):
        signed_in(browser, provider, sub=subject)
        person = browser.get("/api/v1/session").json()["person"]
        cookies.append((browser.cookies["shrag"], person))
        browser.cookies.clear()

    answer = log_out(browser, signed(claims_for(provider), typ="logout+jwt"))

    assert (answer.status_code, answer.content, answer.headers["cache-control"]) == (200, b"", "no-store")
    found = []
    for cookie, _ in cookies:
        browser.cookies.set("shrag", cookie)
        found.append(has_access(browser))
        browser.cookies.clear()
    assert found == [False, False, True]
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    (line,) = [each for each in lines if each.get("event") == "back-channel sign-out"]
    assert (line["status"], line["person"]) == (200, cookies[0][1])


NOW = int(time.time())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"iss": "https://elsewhere.example.org"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "another"}, "aud"),
        ({"aud": None}, "aud"),
        ({"aud": f"{CLIENT}-and-more"}, "aud"),
        ({"iat": NOW - 3_600}, "iat"),
        ({"iat": NOW + 3_600}, "iat"),
        ({"iat": None}, "iat"),
        ({"iat": True}, "iat"),
        ({"iat": str(NOW)}, "iat"),
        ({"exp": NOW - 600}, "exp"),
        ({"jti": None}, "jti"),
        ({"events": None}, "events"),
        ({"events": {}}, "events"),
        ({"events": [LOGOUT_EVENT]}, "events"),
        ({"nonce": "n"}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": ["p-1"]}, "sub"),
    ],
)
def test_a_token_with_a_wrong_claim_ends_no_session(browser, provider, changed, reason):
    signed_in(browser, provider)

    answer = log_out(browser, signed(claims_for(provider, **changed)))

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert f"({reason})" in answer.json()["error_description"]
    assert has_access(browser)


def without_signature(claims):
    head, body, _ = signed(claims).split(".")
    return f"{head}.{body}."


def by_public_key_as_secret(claims):
    secret = jwk.import_key({"kty": "oct", "k": KEY.as_dict(private=False)["x"]})
    return jwt.encode({"alg": "HS256", "kid": "1"}, claims, secret)


@pytest.mark.parametrize(
    "made",
    [
        lambda claims: signed(claims, FOREIGN),
        lambda claims: signed(claims, FOREIGN, jwk=FOREIGN.as_dict(private=False)),
        without_signature,
        by_public_key_as_secret,
        lambda claims: "",
        lambda claims: "a.b.c",
        lambda claims: "ä" * 100,
        lambda claims: "x" * 3_900,
    ],
    ids=["foreign", "key in the header", "unsigned", "secret", "empty", "malformed", "not ASCII", "long"],
)
def test_a_token_that_the_provider_did_not_sign_ends_no_session(browser, provider, made):
    signed_in(browser, provider)

    answer = log_out(browser, made(claims_for(provider)))

    assert answer.status_code == 400
    assert has_access(browser)
