"""Addresses of callers: loopback, and the IPv6 network of a household or office."""

from ipaddress import IPv6Address, ip_address

NETWORK_BITS = 64  # of an IPv6 address: the usual network of one household or office


def network_of(address: str) -> str:
    """Return an IPv4 address unchanged, and the network of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> NETWORK_BITS << NETWORK_BITS)}/{NETWORK_BITS}"


def is_loopback(address: str) -> bool:
    """Check whether an address is a loopback address, IPv4-mapped ones included."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)
