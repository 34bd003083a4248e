"""`shrag doctor` before a real cluster: the server, its plugin, its indexes and their vectors."""

import pytest

from indexer.ingest import IngestRequest, build_index
from tests.indexer.made_corpora import write_jsonl
from tests.service.elasticsearch.cluster import environment_of, own_prefix
from tests.service.elasticsearch.test_errors import documented_keys, with_key
from tests.stack.asking_the_doctor import doctor, statuses

SUBJECTS = ["reachable", "version", "nori", "health"]


@pytest.fixture
def settings(elasticsearch, tmp_path, monkeypatch):
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__SETTLE_S", "0")  # vectors do not hang on deleted passages
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for(tmp_path)


def asked(settings, *options, **changed):
    """Ask with the variables that point at the cluster, some of them changed."""
    named = {name.removeprefix("SHRAG_").lower(): value for name, value in environment_of(settings).items()}
    return doctor(
        settings.home, *options, **{key: one for key, one in named.items() if key != "home"} | changed
    )


def test_a_cluster_with_the_plugin_is_well_also_by_a_key_as_documented(settings, tmp_path):
    path = write_jsonl(tmp_path / "p.jsonl", [{"id": "A", "title": "rice"}])
    build_index(IngestRequest("papers", [str(path)]), settings)
    for asking in (settings, with_key(settings, documented_keys()["shrag-search"])):
        code, found = asked(asking, "--name", "papers")
        assert code == 0, [one for one in found.values() if one["status"] == "wrong"]
        assert statuses("engine", found) | {"health": "ok"} == dict.fromkeys(SUBJECTS, "ok") | {
            "nori": found["engine", "nori"]["status"]
        }
        assert found["engine", "nori"]["status"] in ({"ok"} if asking is settings else {"ok", "warning"})
        assert found["engine", "version"]["found"].startswith("Elasticsearch 9.")
        assert statuses("index", found)["papers, files"] == "ok"


def test_a_wrong_password_is_told_with_the_setting(settings):
    code, found = asked(settings, elasticsearch__password="guessed")
    finding = found["engine", "reachable"]
    assert (code, finding["status"]) == (1, "wrong")
    assert "credentials" in finding["found"]
    assert "SHRAG_ELASTICSEARCH__USER" in finding["remedy"]
    assert "guessed" not in str(found)
