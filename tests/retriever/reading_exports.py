"""Exports read again by programs that had no part in writing them."""

import csv
import io
import json
import os
import shutil
import subprocess
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
import rispy
from citeproc.source.json import CiteProcJSON
from pybtex.database import BibliographyData, Person, parse_string

from retriever.exports import export_named

REQUIRED = os.environ.get("SHRAG_REQUIRE_SERVICES") == "1"  # before the settings of the user are hidden
MODS = {"mods": "http://www.loc.gov/mods/v3"}
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


def by_bibutils(program: str, text: str) -> list[Read]:
    """Read by `ris2xml` or `bib2xml`."""
    if not shutil.which(program):
        reason = f"{program} of bibutils is not installed"
        pytest.fail(f"{reason} (SHRAG_REQUIRE_SERVICES=1)") if REQUIRED else pytest.skip(reason)
    done = subprocess.run([program], input=text.encode(), capture_output=True, check=True, timeout=240)
    return [
        _of_mods(mods) for mods in ET.fromstring(done.stdout.decode("utf-8-sig")).findall("mods:mods", MODS)
    ]


def _of_mods(mods: ET.Element) -> Read:
    def text(path: str) -> str:
        return mods.findtext(path, "", MODS) or ""

    authors = []
    for name in mods.findall("mods:name", MODS):
        parts = {part.get("type"): "" for part in name.findall("mods:namePart", MODS)}
        for part in name.findall("mods:namePart", MODS):
            kind = part.get("type")
            parts[kind] = f"{parts[kind]} {part.text}".strip()
        authors.append(", ".join(filter(None, (parts.get("family"), parts.get("given")))) or parts[None])
    return Read(
        ": ".join(filter(None, (text("mods:titleInfo/mods:title"), text("mods:titleInfo/mods:subTitle")))),
        tuple(authors),
        text("mods:originInfo/mods:dateIssued") or text("mods:part/mods:date"),
        text("mods:relatedItem/mods:titleInfo/mods:title"),
        text("mods:identifier[@type='doi']"),
    )


def by_json(text: str) -> list[Read]:
    """Read CSL-JSON as JSON."""
    return [
        Read(
            item.get("title", ""),
            tuple(
                name.get("literal") or f"{name['family']}, {name['given']}" for name in item.get("author", ())
            ),
            str(item["issued"]["date-parts"][0][0]) if "issued" in item else "",
            item.get("container-title", ""),
            item.get("DOI", ""),
        )
        for item in json.loads(text)
    ]


def by_citeproc(text: str) -> list[Read]:
    # The library warns about `custom`, which CSL 1.0.2 allows.
    items = [{key: value for key, value in item.items() if key != "custom"} for item in json.loads(text)]
    references = CiteProcJSON(items).values()
    return [
        Read(
            str(reference.get("title", "")),
            tuple(
                str(name.get("literal") or f"{name.family}, {name.given}")
                for name in reference.get("author", ())
            ),
            str(reference["issued"].year) if "issued" in reference else "",
            str(reference.get("container_title", "")),
            str(reference.get("DOI", "")),
        )
        for reference in references
    ]


def by_csv(text: str) -> list[Read]:
    csv.field_size_limit(10_000_000)  # of Python's reader it is 131,072 characters
    return [_of_row(row) for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))]


def by_pandas(text: str) -> list[Read]:
    import pandas as pd

    table = pd.read_csv(io.BytesIO(text.encode()), encoding="utf-8-sig", dtype=str, keep_default_na=False)
    return [_of_row(dict(row)) for _, row in table.iterrows()]


def _of_row(row: dict[str, str]) -> Read:
    authors = tuple(row["authors"].split("; ")) if row["authors"] else ()
    return Read(row["title"], authors, row["year"], row["journal"], row["doi"])
