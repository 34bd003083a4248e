"""Settings of a cluster that do not fit: told by name before anything is asked, and never with a secret."""

import certifi
import pytest
from pydantic import SecretStr

from indexer.settings import ElasticsearchSettings
from tests.generator.sample_index import shrag

CERTIFICATES = certifi.where()


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"elasticsearch": "nope"}, "SHRAG_ELASTICSEARCH must be JSON"),
        (
            {"elasticsearch__shard": "2"},
            "SHRAG_ELASTICSEARCH__SHARD: ",
        ),
        ({"elasticsearch__url": "http://h"}, "SHRAG_ELASTICSEARCH__URL: "),
        (
            {"elasticsearch__url": "http://h:port"},
            "SHRAG_ELASTICSEARCH__URL: ",
        ),
        (
            {"elasticsearch__url": "http://h:9200,"},
            "SHRAG_ELASTICSEARCH__URL: ",
        ),
        (
            {"elasticsearch__url": "http://me:secret@h:9200"},
            "SHRAG_ELASTICSEARCH__URL: ",
        ),
        ({"elasticsearch__user": "me:too"}, "SHRAG_ELASTICSEARCH__USER: "),
        ({"elasticsearch__api_key": "열쇠 secret"}, "SHRAG_ELASTICSEARCH__API_KEY: "),
        (
            {"elasticsearch__url": "http://h:9200", "elasticsearch__password": "secret"},
            "SHRAG_ELASTICSEARCH: ",
        ),
        (
            {"elasticsearch__url": "https://a:1,http://h:9200", "elasticsearch__api_key": "secret"},
            "SHRAG_ELASTICSEARCH: ",
        ),
        (
            {"elasticsearch__url": "https://a:1, HTTP://h:9200", "elasticsearch__api_key": "secret"},
            "SHRAG_ELASTICSEARCH: ",
        ),
        ({"elasticsearch__replicas": "3-1"}, "SHRAG_ELASTICSEARCH__REPLICAS: "),
        (
            {"elasticsearch__ca_certs": CERTIFICATES},
            "SHRAG_ELASTICSEARCH: ",
        ),
        (
            {"elasticsearch__ca_certs": "/nowhere/ca.crt", "elasticsearch__url": "https://h:9200"},
            "SHRAG_ELASTICSEARCH__CA_CERTS: /nowhere/ca.crt ",
        ),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else "",
)
def test_a_setting_that_does_not_fit_is_one_line_and_exit_2(tmp_path, environment, complaint):
    done = shrag("indexes", "list", home=tmp_path, **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(complaint)
    assert "secret" not in done.stderr


def test_certificates_that_are_none_are_one_line_and_exit_2(tmp_path):
    wrong = tmp_path / "ca.crt"
    wrong.write_text("no certificate")
    given = {"elasticsearch__url": "https://h:9200", "elasticsearch__ca_certs": wrong}
    done = shrag("indexes", "list", home=tmp_path, **given)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"SHRAG_ELASTICSEARCH__CA_CERTS: {wrong} ")


def test_a_password_may_be_hangul():
    pytest.importorskip("elasticsearch")
    from indexer.versions.cluster.connection import connect

    with connect(ElasticsearchSettings(user="me", password=SecretStr("비밀"))) as client:
        header = client._headers["authorization"]
    assert header == "Basic bWU667mE67CA"  # base64 of "me:비밀" in UTF-8


@pytest.mark.parametrize(
    "given",
    [
        {"url": "http://a:9200,https://b.example:443/es"},
        {"url": "http://[::1]:9200"},
        {"url": "http://h:9200", "password": SecretStr("x"), "allow_plain_http": True},
        {"url": "https://h:9200", "api_key": SecretStr("x")},
        {"replicas": "1-all"},
        {"replicas": "2"},
    ],
)
def test_settings_that_fit(given):
    settings = ElasticsearchSettings(**given)
    assert {name: getattr(settings, name) for name in given} == given


def test_addresses_are_kept_in_one_way_of_writing():
    given = ElasticsearchSettings(url=" HTTPS://A.test:9200/, http://b:9200 ")
    assert given.url == "https://A.test:9200,http://b:9200"
