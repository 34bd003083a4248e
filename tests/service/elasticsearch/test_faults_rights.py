"""Who may not: a wrong password, keys that have expired, and keys without the rights that a command needs."""

import re
import time
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from indexer.settings import IndexerSettings
from tests.service.elasticsearch.faults import (
    NAME,
    Command,
    answers,
    build,
    clean,
    command,
    corpus,
    settings_for,
)
from tests.service.elasticsearch.server import Access

__all__ = ["command"]

SEARCHING = {"indices": [{"names": ["rights-*", "rights.*"], "privileges": ["read", "view_index_metadata"]}]}
INDEXING = {
    "cluster": ["monitor"],
    "indices": [{"names": ["rights-*", "rights.*"], "privileges": ["all"]}],
}
ELSEWHERE = {"indices": [{"names": ["other-*", "other.*"], "privileges": ["all"]}]}


@pytest.fixture(scope="module")
def indexed(elasticsearch: Access, tmp_path_factory):
    settings = settings_for(elasticsearch, tmp_path_factory.mktemp("indexed"), "rights")
    build(settings, corpus(settings.home, 20))
    yield settings
    clean(settings)


def key_of(access: Access, rights: dict[str, Any], expiration: str = "1h") -> str:
    asked = {"name": "faults", "expiration": expiration, "role_descriptors": {"limited": rights}}
    answer = httpx.post(
        f"{access.url}/_security/api_key", json=asked, auth=access.basic_auth, trust_env=False, timeout=240
    )
    return str(answer.raise_for_status().json()["encoded"])


def with_key(settings: IndexerSettings, access: Access, rights: dict[str, Any], **options) -> IndexerSettings:
    key = SecretStr(key_of(access, rights, **options))
    unnamed = {"user": "", "password": SecretStr("")}
    changed = settings.elasticsearch.model_copy(update=unnamed | {"api_key": key})
    return settings.model_copy(update={"elasticsearch": changed})


CREDENTIALS = (
    "does not accept these credentials; set SHRAG_ELASTICSEARCH__USER and …__PASSWORD, or …__API_KEY"
)
COMMANDS = {
    "index": ("index", "CORPUS", "--name", NAME),
    "search": ("search", "지식 그래프", "--name", NAME),
    "ask": ("ask", "지식 그래프", "--name", NAME),
    "list": ("indexes", "list"),
    "remove": ("indexes", "remove", NAME, "P00001"),
    "rollback": ("indexes", "rollback", NAME),
    "delete": ("indexes", "delete", NAME, "--yes"),
}
WRITING = ("index", "remove", "delete")


def arguments_of(name: str, settings: IndexerSettings) -> list[str]:
    return [str(settings.home / "papers.jsonl") if one == "CORPUS" else one for one in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_password_is_told_without_being_shown(name: str, indexed, elasticsearch, command: Command):
    wrong = settings_for(elasticsearch, indexed.home, "rights", password=SecretStr("not-the-password"))
    told = command.told(wrong, *arguments_of(name, indexed))
    assert CREDENTIALS in told
    assert "not-the-password" not in told


def test_an_expired_key_is_told(indexed, elasticsearch, command: Command):
    settings = with_key(indexed, elasticsearch, SEARCHING, expiration="1s")
    time.sleep(1.5)
    for name in ("search", "index"):
        told = command.told(settings, *arguments_of(name, indexed))
        assert CREDENTIALS in told
        assert "expired" in told


def test_a_key_for_searching_searches(indexed, elasticsearch, command: Command):
    settings = with_key(indexed, elasticsearch, SEARCHING)
    assert answers(settings) == answers(indexed)
    for name in ("search", "ask", "list"):
        assert command(settings, *arguments_of(name, indexed))[0] == 0


@pytest.mark.parametrize("name", WRITING)
def test_a_key_for_searching_does_not_write(name: str, indexed, elasticsearch, command: Command):
    before = answers(indexed)
    told = command.told(with_key(indexed, elasticsearch, SEARCHING), *arguments_of(name, indexed))
    assert "right: action [" in told
    assert answers(indexed) == before


def test_a_key_with_all_rights_on_the_prefix_indexes(indexed, elasticsearch, command: Command):
    settings = with_key(indexed, elasticsearch, INDEXING)
    code, _, told = command(settings, *arguments_of("index", indexed), "--rebuild")
    assert code == 0, told


@pytest.mark.parametrize("name", COMMANDS)
def test_a_key_for_another_prefix_is_told_what_it_lacks(name: str, indexed, elasticsearch, command: Command):
    before = answers(indexed)
    code, _, told = command(with_key(indexed, elasticsearch, ELSEWHERE), *arguments_of(name, indexed))
    if name == "list":  # a cluster leaves out of a pattern what one may not see
        assert code == 0
    elif name != "index":  # and an alias that one may not see is not there
        assert code == 2, told
        assert re.search("UnknownIndex: .*'papers'.*'rights' at http.*this user or key", told)
    else:
        assert code == 1, told
        assert "required right" in told
    assert answers(indexed) == before
