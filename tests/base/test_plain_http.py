"""Where a key or a password may go over plain http."""

import pytest

from base.net.addresses import hosts_in_the_clear, refuse_plain_http


@pytest.mark.parametrize(
    "address",
    [
        "https://model.test/v1",
        "http://localhost:8000/v1",
        "http://vllm.localhost",
        "http://127.0.0.1:8000",
        "http://127.8.9.1",
        "http://[::1]:9200",
        "http://[::ffff:127.0.0.1]:9200",
        "https://node1:9200, https://node2:9200",
    ],
)
def test_what_is_encrypted_or_stays_on_this_machine_is_not_in_the_clear(address):
    assert hosts_in_the_clear(address) == []
    refuse_plain_http(address, secret=True, allowed=False)


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("http://model.test/v1", ["model.test"]),
        ("HTTP://model.test", ["model.test"]),
        ("http://127.0.0.1.model.test", ["127.0.0.1.model.test"]),
        ("http://localhost.model.test", ["localhost.model.test"]),
        ("http://localhost./v1", ["localhost."]),  # a resolver is asked for it
        ("http://192.168.1.7:8000", ["192.168.1.7"]),
        ("http://[fe80::1%25eth0]:80", ["fe80::1%25eth0"]),
        ("https://node1:9200,http://node2:9200, http://node3:9200", ["node2", "node3"]),
    ],
)
def test_plain_http_to_another_machine_is_refused_to_a_secret_unless_it_is_allowed(address, hosts):
    assert hosts_in_the_clear(address) == hosts
    refuse_plain_http(address, secret=False, allowed=False)
    refuse_plain_http(address, secret=True, allowed=True)
    with pytest.raises(ValueError, match="allow_plain_http") as refused:
        refuse_plain_http(address, secret=True, allowed=False)
    assert hosts[0] in str(refused.value)
