"""Roles of callers. Each role includes the rights of the earlier ones.

| role | rights, on the allowed indexes and sources |
|---|---|
| reader | search, ask, find papers, export |
| librarian | also exports without a rate limit, statistics of searches; with all indexes, judgements |
| operator | everything, also `/operator` and `/metrics`; always on all indexes |
"""

from typing import Literal, TypeAlias

Role: TypeAlias = Literal["reader", "librarian", "operator"]
ROLES: tuple[Role, ...] = ("reader", "librarian", "operator")


def includes(role: Role | None, needed: Role) -> bool:
    """Check whether a role has the rights of another one; without a role there are none."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)
