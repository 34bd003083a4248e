"""Addresses of callers: this machine's own, and what one household or office is given."""

from ipaddress import IPv6Address, ip_address

NETWORK_BITS = 64  # of an IPv6 address: what one household or office is given


def network_of(address: str) -> str:
    """Return an IPv4 address as it is, the network of an IPv6 one."""
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
    """Tell whether an address is this machine's own."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)
