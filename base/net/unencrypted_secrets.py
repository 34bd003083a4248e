"""Plain http: keys and passwords are sent over it to this machine only, unless a setting allows more."""

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit


def hosts_in_the_clear(addresses: str) -> list[str]:
    """Return the hosts other than this machine that are reached over plain http.

    Args:
        addresses: one or more addresses separated by commas.
    """
    parts = [urlsplit(address.strip()) for address in addresses.split(",")]
    return [
        part.hostname or ""
        for part in parts
        if part.scheme == "http" and not _is_loopback(part.hostname or "")
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


def _is_loopback(host: str) -> bool:
    """Check whether a host is this machine, by name (RFC 6761, section 6.3) or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback
