"""Persons whom a trusted proxy names in a header."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from server.settings import SignInSettings
from tests.generator.sample_index import ENGLISH, NAME
from tests.server.running import application

PROXY, OTHER = "192.0.2.7", "192.0.2.8"
SETTINGS: dict[str, Any] = {
    "user_header": "X-Remote-User",
    "groups_header": "X-Remote-Groups",
    "header_from": f"{PROXY}, 2001:db8::/64",
    "sign_out_url": "/Shibboleth.sso/Logout",
    "groups": {"staff": "operator", "students": {"indexes": [NAME]}},
}
ADA = {"X-Remote-User": "ada@example.org", "X-Remote-Groups": "students; club"}


def behind_proxy(shared_home, address=PROXY, **settings):
    # Both are trusted with X-Forwarded-For, and only one with the names of persons.
    return application(
        shared_home,
        address=address,
        sign_in=SignInSettings(**SETTINGS),
        proxies=f"{PROXY}, {OTHER}",
        public_url="http://localhost",
        **settings,
    )


def test_the_proxy_names_the_person_by_a_pseudonym_and_its_groups(shared_home, tmp_path, monkeypatch):
    audit = tmp_path / "audit.jsonl"
    monkeypatch.setenv("SHRAG_SERVER__AUDIT_FILE", str(audit))
    staff = {"X-Remote-User": "eve", "X-Remote-Groups": "club,staff", "Origin": "http://localhost"}
    guest = {"X-Remote-User": "guest", "X-Remote-Groups": "club"}
    with behind_proxy(shared_home, audit_file=audit) as client:
        session = client.get("/api/v1/session", headers=ADA | {"X-Forwarded-For": "203.0.113.1"}).json()
        assert (session["role"], session["indexes"], session["signed_in"]) == ("reader", [NAME], True)
        assert "ada" not in session["person"]
        for path, headers, status in (
            ("status", ADA, 403),
            ("status", staff, 200),
            ("indexes", {}, 401),
            ("indexes", guest, 403),
        ):
            assert client.get(f"/api/v1/{path}", headers=headers).status_code == status
        person = client.get("/api/v1/session", headers=staff).json()["person"]
        assert client.post("/api/v1/keys", json={"sources": ["library"]}, headers=staff).is_success
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    [created] = [line for line in lines if line.get("event") == "key created"]
    assert (created["by"], created["sources"]) == (person, ["library"])
    assert '"eve"' not in audit.read_text()


def test_another_address_cannot_name_a_person_even_as_a_proxy(shared_home):
    forwarded = {"X-Forwarded-For": PROXY, "Forwarded": f"for={PROXY}", "X-Real-IP": PROXY}
    with behind_proxy(shared_home, OTHER) as client:
        for headers in (ADA, ADA | forwarded, {"X-Remote-Groups": "staff"}):
            assert client.get("/api/v1/indexes", headers=headers).status_code == 403
        disguised = {"X-Remote_User": "ada", "X_Remote_User": "ada", "Remote-User": "ada"} | forwarded
        assert client.get("/api/v1/indexes", headers=disguised).status_code == 401


def test_a_page_of_another_site_cannot_use_the_session_of_the_proxy(shared_home):
    with behind_proxy(shared_home) as client:
        for foreign in ({}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            refused = client.post("/api/v1/search", json={"question": ENGLISH}, headers=ADA | foreign)
            assert refused.status_code == 403
        left = client.delete("/api/v1/session", headers=ADA | {"Origin": "http://localhost"})
        assert left.json() == {"continue_at": "/Shibboleth.sso/Logout"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"header_from": ""}, "header_from"),
        ({"header_from": "0.0.0.0/0"}, "header_from"),
        ({"user_header": ""}, "groups_header"),
        ({"user_header": "X Remote User"}, "header"),
        ({"groups": {}}, "groups"),
        ({"groups": {"staff": "admin"}}, "reader"),
        ({"groups": {"staff": {"role": "operator", "indexes": ["a"]}}}, "operator"),
        ({"issuer": "https://id.example.org"}, "client_id"),
        ({"issuer": "http://id.example.org", "client_id": "shrag"}, "https"),
        ({"scopes": "profile"}, "openid"),
    ],
)
def test_a_wrong_setting_is_named(changes, named):
    with pytest.raises(ValidationError, match=named):
        SignInSettings(**SETTINGS | changes)
