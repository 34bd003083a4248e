"""Exports read again by a program that had no part in writing them."""

from typing import Any, NamedTuple

import rispy

from retriever.exports import export_named


class Read(NamedTuple):
    title: str
    authors: tuple[str, ...]


def written(name: str, records: list[dict[str, Any]]) -> str:
    return b"".join(export_named(name).encoded(records)).decode()


def by_rispy(text: str) -> list[Read]:
    return [Read(entry.get("title", ""), tuple(entry.get("authors", ()))) for entry in rispy.loads(text)]
