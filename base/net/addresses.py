"""Addresses: loopback, the network of a caller, and hosts to which a secret would be sent unencrypted."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

NETWORK_BITS = 64  # of an IPv6 address: the usual network of one household or office


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Return an address, an IPv4-mapped one as IPv4; None for other text."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed


def network_of(address: str) -> str:
    """Return an IPv4 address unchanged, and the network of an IPv6 address."""
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return f"{IPv6Address(int(parsed) >> NETWORK_BITS << NETWORK_BITS)}/{NETWORK_BITS}"
    return str(parsed or address)


def is_loopback(address: str) -> bool:
    """Check whether an address is a loopback address, IPv4-mapped ones included."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def hosts_in_the_clear(addresses: str) -> list[str]:
    """Return the hosts other than this machine (RFC 6761, section 6.3) that are reached over plain http.

    Args:
        addresses: one or more addresses separated by commas.
    """
    parts = [urlsplit(address.strip()) for address in addresses.split(",")]
    hosts = [part.hostname or "" for part in parts if part.scheme == "http"]
    return [
        host
        for host in hosts
        if not f".{host}".endswith(".localhost") and not is_loopback(host.partition("%")[0])
    ]


def refuse_plain_http(addresses: str | None, *, secret: bool, allowed: bool) -> None:
    """Raise ValueError naming the hosts to which a secret would be sent unencrypted without permission.

    Args:
        addresses: as for `hosts_in_the_clear`; None if there is no connection.
        secret: whether a key or a password is sent with the requests.
        allowed: the setting `allow_plain_http`.
    """
    hosts = hosts_in_the_clear(addresses) if addresses and secret and not allowed else []
    if hosts:
        raise ValueError(
            f"the key or password would go unencrypted to {', '.join(hosts)}: use https://, or set "
            "allow_plain_http to true if everyone who can listen on the network may know it"
        )
