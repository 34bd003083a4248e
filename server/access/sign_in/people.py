"""Persons who signed in, and their rights by groups.

A person is known by a pseudonym: a keyed hash of the provider and its name for the person. The key is random
and stored only in the home folder, so the pseudonym cannot be computed from a list of names.
"""

import hmac
from base64 import b32encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import chain
from typing import Any

from server.roles import ROLES, Role
from server.settings import GroupRights

EVERYBODY = "*"  # the group of everybody who signs in
PSEUDONYM_BYTES = 10
MOST_GROUPS = 1_000  # of a person
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Person:
    """A person; without a role it has no rights, without indexes and sources it has all of both."""

    id: str
    name: str
    role: Role | None
    indexes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    expires: datetime | None = None


def pseudonym_of(secret: bytes, provider: str, subject: str) -> str:
    """Return the pseudonym of a person: 16 letters and digits."""
    digest = hmac.new(secret, f"{provider}\0{subject}".encode(), sha256).digest()
    return b32encode(digest[:PSEUDONYM_BYTES]).decode().lower()


def known_groups(value: Any, table: Mapping[str, GroupRights]) -> tuple[str, ...]:
    """Return the groups in a claim or header that have rights; other values have none."""
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(
        dict.fromkeys(each for each in given[:MOST_GROUPS] if isinstance(each, str) and each in table)
    )


def person_with_rights(
    person_id: str,
    name: str,
    groups: Iterable[str],
    table: Mapping[str, GroupRights],
    expires: datetime | None = None,
) -> Person | None:
    """Return a person with the highest role of its groups and all their indexes and sources.

    None without rights: the table has neither `*` nor a group of the person.
    """
    rights = [table[group] for group in dict.fromkeys((*groups, EVERYBODY)) if group in table]
    if not rights:
        return None
    role = max((each.role for each in rights), key=ROLES.index)
    if role == ROLES[-1] or any(not each.indexes and not each.sources for each in rights):
        return Person(person_id, name[:LONGEST_NAME], role, expires=expires)
    return Person(
        person_id,
        name[:LONGEST_NAME],
        role,
        tuple(dict.fromkeys(chain.from_iterable(each.indexes for each in rights))),
        tuple(dict.fromkeys(chain.from_iterable(each.sources for each in rights))),
        expires,
    )


def claim_of(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path of names with dots, like `realm_access.roles`."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value
