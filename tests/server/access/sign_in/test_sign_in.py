"""Sign-in of persons at a provider: the ordinary way, attacks on it, and sign-out at the provider."""

import base64
import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc import jwk

from server.access.keys import digest_of
from server.access.sign_in.provider import LOGOUT_EVENT
from server.access.sign_in.signing_in import local_path
from server.settings import SignInSettings
from server.store import FILE
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.access.sign_in.openid_provider import ABOUT, CLIENT, FORGED, SECRET, providing, signed
from tests.server.running import application, tool_call

OWN = {"Origin": "http://localhost"}
NOW = int(datetime.now(UTC).timestamp())
GROUPS: dict[str, Any] = {"students": {"indexes": ["other"]}, "library": "librarian", "it": "operator"}


def settings_for(provider, home, **settings):
    secret = home / "client-secret"
    secret.write_text(f"{SECRET}\n")
    given: dict[str, Any] = {
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret_file": secret,
        "groups": GROUPS,
    }
    return SignInSettings(**given | settings)


@pytest.fixture(scope="module")
def provider():
    with providing() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(shared_home, provider):
    """Serve two indexes to persons who sign in, behind a proxy."""
    sign_in, audit = settings_for(provider, shared_home), shared_home / "audit.jsonl"
    public: dict[str, Any] = {"public_url": "http://localhost", "proxies": "127.0.0.9", "audit_file": audit}
    with application(shared_home, address="127.0.0.9", sign_in=sign_in, **public) as client:
        client.follow_redirects = False
        yield client


ADDRESSES = count(1)


@pytest.fixture
def browser(server):
    """Return the client without cookies, at an address of its own: refusals of an address are delayed."""
    server.cookies.clear()
    server.headers["X-Forwarded-For"] = f"2001:db8:{next(ADDRESSES):x}::1"
    yield server
    server.cookies.clear()


def begin(browser, to="/"):
    answer = browser.get("/sign-in", params={"next": to})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(browser, brought):
    return browser.get("/sign-in/callback", params=brought)


def signed_in(browser, provider, to="/", **claims):
    answer = come_back(browser, provider.authorize(begin(browser, to), **claims))
    assert answer.status_code == 303, answer.text
    return answer


def has_access(browser):
    return browser.get("/api/v1/indexes").status_code == 200


def cookies_of(browser, provider, *subjects):
    """Sign these persons in, each in a browser of its own; return their cookies."""
    cookies = []
    for subject in subjects:
        signed_in(browser, provider, sub=subject, name=subject)
        cookies.append(browser.cookies["shrag"])
        browser.cookies.clear()
    return cookies


def with_access(browser, cookies):
    """Return whether each of these cookies has access."""
    found = []
    for cookie in cookies:
        browser.cookies.set("shrag", cookie)
        found.append(has_access(browser))
        browser.cookies.clear()
    return found


def test_a_person_signs_in_and_has_the_rights_of_its_group(browser, provider):
    assert browser.get("/api/v1/indexes").status_code == 401
    address = begin(browser, "/find?q=물")
    asked = dict(parse_qsl(urlsplit(address).query))
    assert asked["redirect_uri"] == "http://localhost/sign-in/callback"
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")

    answer = come_back(browser, provider.authorize(address))

    assert answer.headers["location"] == "http://localhost/find?q=%EB%AC%BC"
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("shrag="))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    session = browser.get("/api/v1/session").json()
    assert (session["role"], session["indexes"], session["label"]) == ("reader", ["other"], "Kim Ada")
    assert [each["id"] for each in browser.get("/v1/models").json()["data"]] == ["other"]


def test_signing_out_ends_the_session_also_for_a_copy_of_the_cookie(browser, provider):
    signed_in(browser, provider)
    token = browser.cookies["shrag"]

    left = browser.delete("/api/v1/session", headers=OWN)

    assert left.json()["continue_at"].startswith(f"{provider.issuer}/end?client_id={CLIENT}")
    browser.cookies.set("shrag", token)
    assert not has_access(browser)


def test_a_session_ends_when_it_was_idle_and_when_its_time_is_over(browser, provider, shared_home):
    for column in ("seen", "expires"):
        signed_in(browser, provider)
        assert has_access(browser)
        with closing(sqlite3.connect(shared_home / FILE)) as database, database:
            database.execute(f"UPDATE sessions SET {column} = {column} - 1000000")
        assert not has_access(browser)
        browser.cookies.clear()


def test_the_command_ends_all_sessions_of_a_person_and_no_others(browser, provider, shared_home, tmp_path):
    audit = tmp_path / "audit.jsonl"
    cookies = cookies_of(browser, provider, "ada", "ada", "grace")

    listed = json.loads(shrag("sessions", "list", "--json", home=shared_home).stdout)["sessions"]
    persons = {each["name"]: each["person"] for each in listed}
    ended = shrag("sessions", "end", persons["ada"], "--json", home=shared_home, server__audit_file=audit)

    assert json.loads(ended.stdout) == {"ended": {persons["ada"]: 2}}
    assert with_access(browser, cookies) == [False, False, True]
    line = json.loads(audit.read_text("utf-8"))
    assert (line["event"], line["person"], line["sessions"]) == ("sessions ended", persons["ada"], 2)
    assert {*listed[0]} == {"person", "name", "groups", "last_call", "expires"}
    assert shrag("sessions", "end", "--all", home=shared_home).returncode == 0
    assert json.loads(shrag("sessions", "list", "--json", home=shared_home).stdout) == {"sessions": []}
    assert with_access(browser, cookies) == [False] * 3


def test_groups_may_be_in_the_user_info_of_the_same_person_only(browser, provider):
    provider.user_info = {"sub": "p-1", "groups": ["library"]}
    signed_in(browser, provider, groups=None)
    assert browser.get("/api/v1/session").json()["role"] == "librarian"

    provider.user_info = {"sub": "p-2", "groups": ["it"]}
    browser.cookies.clear()
    assert come_back(browser, provider.authorize(begin(browser), groups=None)).status_code == 403


# Changed claims of the ID token, and responses that were changed on their way: none gives access.
CLAIMS: list[dict[str, Any]] = [
    *({"groups": groups} for groups in (None, [], ["IT"], ["it "], ["*"], {"it": 1}, [["it"]], 7)),
    *({"nonce": nonce} for nonce in ("another", None, "")),
    *({"aud": audience} for audience in ("another-client", ["another-client"], None)),
    {"aud": [CLIENT, "another"], "azp": "another"},
    *({"iss": issuer} for issuer in ("https://evil.example", None)),
    *({"sub": subject} for subject in (None, "", 7)),
    *({"exp": expires} for expires in (NOW - 120, None, "tomorrow")),
    {"iat": NOW + 3_600},
    {"nbf": NOW + 3_600},
    {"at_hash": "of-another-token"},
    *({"sign": sign} for sign in FORGED.values()),
]
RESPONSES: list[dict[str, Any]] = [
    {"state": "another"},
    {"state": ""},
    {"iss": "https://evil.example"},
    *({"code": code} for code in ("unknown", "", "x" * 5_000)),
    {"error": "access_denied"},
]


def refused_at_sign_in(browser, brought):
    assert come_back(browser, brought).status_code == 403
    return "shrag" not in browser.cookies and browser.get("/api/v1/indexes").status_code == 401


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize("claims", CLAIMS, ids=range(len(CLAIMS)))  # ids without the time
def test_a_forged_token_or_an_account_without_a_known_group_has_no_access(browser, provider, claims):
    provider.user_info = {"sub": "p-1"}
    assert refused_at_sign_in(browser, provider.authorize(begin(browser), **{"groups": ["it"]} | claims))


@pytest.mark.parametrize("change", RESPONSES, ids=range(len(RESPONSES)))
def test_a_response_that_was_changed_gives_no_access(browser, provider, change):
    assert refused_at_sign_in(browser, provider.authorize(begin(browser)) | change)


def test_a_new_key_of_the_provider_is_fetched_when_a_token_needs_it(shared_home):
    fresh = jwk.generate_key("EC", "P-256", ABOUT | {"kid": "2"})
    with providing() as provider:
        sign_in = settings_for(provider, shared_home)
        with application(shared_home, sign_in=sign_in, public_url="http://localhost") as client:
            client.follow_redirects = False
            signed_in(client, provider)
            provider.keys = [fresh]

            signed_in(client, provider, sign=lambda claims: signed(claims, fresh, kid="2"))
            assert come_back(client, provider.authorize(begin(client))).status_code == 403


@pytest.mark.parametrize("started", ['[9e9, "\\ud800", "", "", "/"]', "[" * 10_000, "[]", "7"])
def test_a_changed_cookie_of_a_sign_in_gives_no_access(browser, started):
    suffix = digest_of("x")[:8].hex()
    browser.cookies.set(f"shrag-sign-in-{suffix}", base64.urlsafe_b64encode(started.encode()).decode())

    assert refused_at_sign_in(browser, {"state": "x", "code": "x"})


def test_two_tabs_sign_in_at_once_and_each_returns_to_its_page(browser, provider):
    first, second = begin(browser, "/find"), begin(browser, "/operator")
    for address, path in ((first, "/find"), (second, "/operator")):
        answer = come_back(browser, provider.authorize(address))
        assert (answer.status_code, answer.headers["location"]) == (303, f"http://localhost{path}")
        assert has_access(browser)
    assert [name for name in browser.cookies if "sign-in" in name] == []


def test_a_response_is_used_once_and_in_the_browser_that_began(browser, provider):
    brought = provider.authorize(begin(browser))
    held = dict(browser.cookies)
    assert come_back(browser, brought).status_code == 303
    browser.cookies.clear()
    assert refused_at_sign_in(browser, brought)
    begin(browser)  # the victim's browser has started one, too
    assert refused_at_sign_in(browser, brought)
    browser.cookies.clear()
    browser.cookies.update(held)
    assert refused_at_sign_in(browser, brought)


@pytest.mark.parametrize(
    "to",
    [
        *("//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "evil.example"),
        *("/\t/evil.example", "/\n/evil.example", " //evil.example", "", "javascript:alert(1)", "/\x00"),
        *("///evil.example", "http:evil.example", "/%09//\u2028evil\\", "@evil.example", ".evil.example"),
        "/" + "x" * 3_000,
    ],
)
def test_nobody_is_sent_to_another_site(to):
    assert local_path(to) == "/"


def test_a_reader_gains_no_rights_of_others(browser, provider):
    signed_in(browser, provider)
    question = {"question": ENGLISH, "index": NAME}
    for path in ("/metrics", "/api/v1/status"):
        assert browser.get(path).status_code == 403
    for path in ("search", "ask", "facets", "keywords", "explain", "find-papers"):
        refused = browser.post(f"/api/v1/{path}", json=question, headers=OWN)
        assert refused.status_code in {404, 422}, path
        assert "SAMPLE" not in refused.text
    for path in (
        f"/api/v1/indexes/{NAME}",
        f"/api/v1/papers/SAMPLE-BAT-011?index={NAME}",
        f"/papers/SAMPLE-BAT-011?index={NAME}",
        f"/api/v1/export?index={NAME}&format=ris&ids=SAMPLE-BAT-011",
        f"/unapi?id={NAME}/SAMPLE-BAT-011&format=ris",
        f"/v1/models/{NAME}",
        f"/plain?q=methane&index={NAME}",
    ):
        assert browser.get(path).status_code == 404, path
    chat = {"model": NAME, "messages": [{"role": "user", "content": ENGLISH}]}
    assert browser.post("/v1/chat/completions", json=chat, headers=OWN).status_code == 404
    assert tool_call(browser, "search", {"query": ENGLISH, "index": NAME}, **OWN)["isError"]
    assert browser.post("/api/v1/search", json=question | {"index": "other"}, headers=OWN).status_code == 200


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": None},
    ],
    ids=str,
)
def test_metadata_of_another_issuer_or_without_an_endpoint_is_not_accepted(shared_home, metadata):
    with providing() as provider:
        provider.metadata = metadata
        sign_in = settings_for(provider, shared_home)
        with application(shared_home, sign_in=sign_in, public_url="http://localhost") as client:
            assert client.get("/sign-in").status_code == 502


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
    answer = browser.post("/sign-in/back-channel-logout", data={"logout_token": token} if token else {})
    browser.cookies.update(kept)
    return answer


def test_all_sessions_of_the_person_end_and_those_of_others_do_not(browser, provider, shared_home):
    cookies = cookies_of(browser, provider, "p-1", "p-1", "p-2")
    browser.cookies.set("shrag", cookies[0])
    person = browser.get("/api/v1/session").json()["person"]

    answer = log_out(browser, signed(claims_for(provider), typ="logout+jwt"))

    assert (answer.status_code, answer.content, answer.headers["cache-control"]) == (200, b"", "no-store")
    browser.cookies.clear()
    assert with_access(browser, cookies) == [False, False, True]
    lines = [json.loads(line) for line in (shared_home / "audit.jsonl").read_text("utf-8").splitlines()]
    (line,) = [each for each in lines if each.get("event") == "back-channel sign-out"]
    assert (line["status"], line["person"]) == (200, person)


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
