"""Exports read again by programs that had no part in writing them."""

from typing import Any, NamedTuple

import rispy
from pybtex.database import BibliographyData, Person, parse_string

from retriever.exports import export_named

COMMANDS = {
    r"{\textbackslash}": "\\",
    r"{\textbraceleft}": "{",
    r"{\textbraceright}": "}",
    r"{\textasciitilde}": "~",
    r"{\textasciicircum}": "^",
    **{f"\\{sign}": sign for sign in "%$&#_"},
}


class Read(NamedTuple):
    """What is to come back of each paper."""

    title: str
    authors: tuple[str, ...]
    year: str
    journal: str
    doi: str


def written(name: str, records: list[dict[str, Any]]) -> str:
    """Return the file of some records."""
    return b"".join(export_named(name).encoded(records)).decode()


def as_given(record: dict[str, Any]) -> Read:
    """Return what was given of a record, as it is to come back."""
    return Read(
        record.get("title", ""),
        tuple(record.get("authors", ())),
        str(record.get("year", "")),
        record.get("journal", ""),
        record.get("doi", ""),
    )


def by_rispy(text: str) -> list[Read]:
    return [
        Read(
            entry.get("title", ""),
            tuple(author.removesuffix(",") for author in entry.get("authors", ())),
            entry.get("year", ""),
            entry.get("journal_name", ""),
            entry.get("doi", ""),
        )
        for entry in rispy.loads(text)
    ]


def by_pybtex(text: str) -> list[Read]:
    return [
        Read(
            plain(entry.fields.get("title", "")),
            tuple(plain(_name(person)) for person in entry.persons.get("author", ())),
            entry.fields.get("year", ""),
            plain(entry.fields.get("journal", "")),
            entry.fields.get("doi", ""),
        )
        for entry in bibliography(text).entries.values()
    ]


def bibliography(text: str) -> BibliographyData:
    return parse_string(text, "bibtex")


def plain(value: str) -> str:
    """Return what TeX would set of a value, whose only commands are those that stand for a character."""
    for command, character in COMMANDS.items():
        value = value.replace(command, f"\ue000{ord(character)}\ue001")
    value = value.replace("{", "").replace("}", "")
    for character in COMMANDS.values():
        value = value.replace(f"\ue000{ord(character)}\ue001", character)
    return value


def _name(person: Person) -> str:
    family = " ".join([*person.prelast_names, *person.last_names])
    given = " ".join([*person.first_names, *person.middle_names])
    return f"{family}, {given}" if given else family
