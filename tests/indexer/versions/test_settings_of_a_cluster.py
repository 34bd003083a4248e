"""Settings of a cluster that do not fit: told by name before anything is asked, and never with a secret."""

import certifi
import pytest
from pydantic import SecretStr

from indexer.settings import ElasticsearchSettings
from tests.generator.sample_index import shrag

CERTIFICATES = certifi.where()


WRONG = [  # settings below SHRAG_ELASTICSEARCH, and the one that is named; "" for all together
    ({"shard": "2"}, "__SHARD"),
    ({"url": "http://h"}, "__URL"),
    ({"url": "http://h:port"}, "__URL"),
    ({"url": "http://h:9200,"}, "__URL"),
    ({"url": "http://me:secret@h:9200"}, "__URL"),
    ({"user": "me:too"}, "__USER"),
    ({"api_key": "열쇠 secret"}, "__API_KEY"),
    ({"url": "http://h:9200", "password": "secret"}, ""),
    ({"url": "https://a:1, HTTP://h:9200", "api_key": "secret"}, ""),
    ({"replicas": "3-1"}, "__REPLICAS"),
    ({"ca_certs": CERTIFICATES}, ""),
    ({"ca_certs": "/nowhere/ca.crt", "url": "https://h:9200"}, "__CA_CERTS"),
    ({"ca_certs": __file__, "url": "https://h:9200"}, "__CA_CERTS"),  # no certificate
]


@pytest.mark.parametrize(
    ("given", "named"),
    WRONG,
    ids=lambda given: "-".join(given) if isinstance(given, dict) else "",
)
def test_a_setting_that_does_not_fit_is_one_line_and_exit_2(tmp_path, given, named):
    environment = {f"elasticsearch__{name}": value for name, value in given.items()}
    done = shrag("indexes", "list", home=tmp_path, **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"SHRAG_ELASTICSEARCH{named}: ")
    assert "secret" not in done.stderr


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
