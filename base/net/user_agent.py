"""The User-Agent of requests to services on the network, with the operator's contact."""

import re
from importlib.metadata import PackageNotFoundError, version

CONTACT = re.compile(r"[\x21-\x7e]+@[\x21-\x7e]+|https?://[\x21-\x7e]+")


def valid_contact(value: str) -> str:
    """Return a contact; ValueError unless it is an e-mail address or a web address."""
    if not CONTACT.fullmatch(value):
        raise ValueError("a contact must be an e-mail address or a web address")
    return value


def user_agent(contact: str) -> str:
    """Return the header `shrag/0.1.0 (mailto:library@example.org)`; the contact may be empty."""
    try:
        number = version("shrag")
    except PackageNotFoundError:
        number = "0"
    address = contact if "://" in contact else f"mailto:{contact}"
    return f"shrag/{number} ({address})" if contact else f"shrag/{number}"
