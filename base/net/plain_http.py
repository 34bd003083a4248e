"""Plain http: a key or a password goes over it to this machine alone, unless a setting allows more."""

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit


def hosts_in_the_clear(addresses: str) -> list[str]:
    """Return the hosts that are reached over plain http and are not this machine.

    Args:
        addresses: one address, or several separated by commas.
    """
    parts = [urlsplit(address.strip()) for address in addresses.split(",")]
    return [
        part.hostname or ""
        for part in parts
        if part.scheme == "http" and not _is_loopback(part.hostname or "")
    ]


def refuse_plain_http(addresses: str | None, *, secret: bool, allowed: bool) -> None:
    """Raise ValueError, which names the hosts, where a secret would be sent in the clear and may not be.

    Args:
        addresses: as of `hosts_in_the_clear`; None where nothing is connected to.
        secret: whether a key or a password goes with the requests.
        allowed: what the setting `allow_plain_http` says.
    """
    hosts = hosts_in_the_clear(addresses) if addresses and secret and not allowed else []
    if hosts:
        raise ValueError(
            f"the key or password would go unencrypted to {', '.join(hosts)}: use https://, or set "
            "allow_plain_http to true where whoever can listen on the way may know it"
        )


def _is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its name (RFC 6761, section 6.3) or number."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback
