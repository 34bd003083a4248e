r"""The reference formats for `--export`: bibtex, csl-json, csv, jsonl and ris, all in UTF-8.

Each writes papers' records (from `retriever.papers.records`) in their order, and the same text for the same
records. References are written from the item of CSL-JSON of a paper (`retriever/reference.py`).

In BibTeX, TeX reads every value as text: what it would obey is written as the text of it. No command and no
brace is left of what a record held: BibTeX counts the brace of \{ too, so both are commands here. A paper's
key is made of its id alone, and is the same in every export unless two keys collide. Fields that no style
prints hold the other language's texts, the references and the exact id, for indexing the file again.

RIS is Research Information Systems' format (RIS Format Specifications, 2011): a tag of two characters, two
spaces, a hyphen and a space, lines that end in CR LF, and `ER` after each reference. The database provider
(`DP`) marks a file whose ids are kept when it is indexed.

CSV (RFC 4180) has a byte order mark, so that Excel detects UTF-8. Cells that a spreadsheet would read as a
formula start with an apostrophe, and all cells are quoted (OWASP, CSV Injection).
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any
from urllib.parse import quote

from base.notes import Note
from base.terminal.output import json_text
from indexer.corpora.own_exports import (
    BIBTEX_ID,
    CSV_COLUMNS,
    CSV_FURTHER,
    CSV_SEPARATOR,
    EXPORTER,
    FORMULA,
)
from retriever.errors import BadFilter
from retriever.reference import Item, Name, Record, csl_item, last_name, one_line, sorted_name, year_of

ESCAPES = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "%$&#_"},
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
    }
)
LANGUAGES = {"ko": "korean", "en": "english", "und": "und"}
NO_KEY_CHARACTERS = re.compile(r"[^A-Za-z0-9.:/+-]+")
SEPARATORS = frozenset(",;")  # between keywords
VERBATIM = "!\"#&'()*+,-./:;<=>?@[]_|~%"  # allowed in \url and \href; the rest is percent-encoded
HASH_DIGITS = 8
# Without braces, " and " separates authors, and "others" means further ones.
JOINED = re.compile(r"\band\b|\bothers\b", re.IGNORECASE)
FOUND = ("score", "why")  # columns of CSV for papers that were found for a question


@dataclass(frozen=True, slots=True)
class Export:
    """A format: its media type, the ending of its files, and the function that writes records in pieces."""

    media_type: str
    extension: str
    write: Callable[[Iterable[Record]], Iterator[str]]

    def encoded(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Yield the file in UTF-8, a piece at a time."""
        return (piece.encode() for piece in self.write(records))


def _bibtex(records: Iterable[Record]) -> Iterator[str]:
    given: set[str] = set()
    for item in map(csl_item, records):
        key, number = citation_key(item["id"]), 1
        unused = key
        while unused.casefold() in given:  # BibTeX ignores case
            number += 1
            unused = f"{key}-{number}"
        given.add(unused.casefold())
        kind = "article" if "container-title" in item else "misc"
        fields = "".join(f",\n  {name} = {{{value}}}" for name, value in _bibtex_fields(item) if value)
        yield f"@{kind}{{{unused}{fields}\n}}\n\n"


def citation_key(paper_id: str) -> str:
    """Return a key: the id without characters that keys must not contain, followed by a hash of the id."""
    kept = NO_KEY_CHARACTERS.sub("-", paper_id).strip("-")
    if kept == paper_id and kept:
        return kept
    digest = hashlib.sha256(paper_id.encode()).hexdigest()[:HASH_DIGITS]
    return f"{kept or 'paper'}-{digest}"


def _bibtex_fields(item: Item) -> Iterator[tuple[str, str]]:
    def text(key: str, of: Item = item) -> str:
        return escaped(of.get(key, ""))

    custom = item["custom"]
    yield "title", text("title")
    yield "author", " and ".join(map(_bibtex_author, item.get("author", ())))
    yield "year", year_of(item)
    yield "journal", text("container-title")
    yield "volume", text("volume")
    yield "number", text("issue")
    yield "pages", text("page").replace("-", "--")
    yield "publisher", text("publisher")
    yield "abstract", text("abstract")
    # Braces keep a comma or semicolon in a keyword.
    keywords = custom.get("keywords", ())
    yield "keywords", ", ".join(f"{{{escaped(k)}}}" if SEPARATORS & {*k} else escaped(k) for k in keywords)
    yield "doi", quote(item.get("DOI", ""), safe=VERBATIM)
    yield "url", quote(item.get("URL", ""), safe=VERBATIM)
    yield "language", LANGUAGES.get(item.get("language", ""), "")
    yield "title2", text("title2", custom)
    yield "abstract2", text("abstract2", custom)
    yield "references", escaped(" ".join(custom.get("references", ())))
    yield "source", text("source", custom)
    yield BIBTEX_ID, text("id")


def escaped(text: str) -> str:
    """Escape text for TeX."""
    return text.translate(ESCAPES)


def _bibtex_author(name: Name) -> str:
    """Format a name as "von Last, Jr, First"; braces keep what BibTeX would misread."""
    parts = (name.get(part, "") for part in ("given", "non-dropping-particle", "suffix"))
    given, particle, suffix = map(escaped, parts)
    family = escaped(name.get("literal") or name["family"])
    if "literal" in name or JOINED.search(sorted_name(name)) or "," in family:
        family = f"{{{family}}}"
        given = f"{{{given}}}" if given else ""
    return ", ".join(part for part in (f"{particle} {family}".strip(), suffix, given) if part)


def _ris(records: Iterable[Record]) -> Iterator[str]:
    for item in map(csl_item, records):
        lines = (f"{tag}  - {value}\r\n" for tag, value in _ris_tags(item) if value)
        yield "".join(lines) + "ER  - \r\n\r\n"


def _ris_tags(item: Item) -> Iterator[tuple[str, str]]:
    custom = item["custom"]
    first, _, last = item.get("page", "").partition("-")
    yield "TY", "JOUR" if "container-title" in item else "GEN"
    yield "ID", item["id"]
    yield "TI", item.get("title", "")
    yield "TT", custom.get("title2", "")
    for name in item.get("author", ()):
        # An unsplit name with a space is only kept whole by a comma.
        yield "AU", f"{last_name(name)}," if " " in name.get("literal", "") else sorted_name(name)
    yield "PY", year_of(item)
    for tag, key in (("JO", "container-title"), ("VL", "volume"), ("IS", "issue")):
        yield tag, item.get(key, "")
    yield from (("SP", first), ("EP", last))
    yield from (("PB", item.get("publisher", "")), ("AB", item.get("abstract", "")))
    yield "N2", custom.get("abstract2", "")
    yield from (("KW", keyword) for keyword in custom.get("keywords", ()))
    for tag, key in (("DO", "DOI"), ("UR", "URL"), ("LA", "language")):
        yield tag, item.get(key, "")
    yield from (("DB", custom.get("source", "")), ("DP", EXPORTER))


def _csl_json(records: Iterable[Record]) -> Iterator[str]:
    """Yield a JSON array, one item per line."""
    separator = "[\n"
    for item in map(csl_item, records):
        if not any(", " in keyword for keyword in item["custom"].get("keywords", ())):
            item["custom"].pop("keywords", None)  # `keyword` has all of them
        yield separator + json_text(item)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _jsonl(records: Iterable[Record]) -> Iterator[str]:
    """Yield each unchanged record, with all its keys, as a line."""
    return (json_text(dict(record)) + "\n" for record in records)


def _csv(records: Iterable[Record]) -> Iterator[str]:
    """Yield the header and a line for each record; the first record decides about the columns `FOUND`."""
    records = iter(records)
    first = list(islice(records, 1))
    columns = (*CSV_COLUMNS, *(FOUND if first and all(name in first[0] for name in FOUND) else ()))
    yield "\ufeff" + _csv_line((*columns, CSV_FURTHER))
    for record in chain(first, records):
        values = {**record, "id": record.get("doc_id") or record.get("id")}
        further = {key: record[key] for key in record if key not in {*columns, "doc_id"}}
        yield _csv_line([_cell(values.get(name)) for name in columns] + [_cell(further or None)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        parts = [one_line(part) for part in value]
        text = one_line(CSV_SEPARATOR.join(parts))
        if value and (text.startswith("[") or text.split(CSV_SEPARATOR) != parts):
            text = _json(parts)
    else:
        text = one_line(value) if isinstance(value, str) else _json(value)
    return f"'{text}" if FORMULA.match(text) else text


def _json(value: Any) -> str:
    """Return JSON on one line; all letters are escaped if `one_line` would change one."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text == one_line(text) else json.dumps(value)


def _csv_line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


EXPORTS = {
    "bibtex": Export("application/x-bibtex", ".bib", _bibtex),
    "csl-json": Export("application/vnd.citationstyles.csl+json", ".json", _csl_json),
    "csv": Export("text/csv; header=present", ".csv", _csv),
    "jsonl": Export("application/jsonl", ".jsonl", _jsonl),
    "ris": Export("application/x-research-info-systems", ".ris", _ris),
}


def export_names() -> tuple[str, ...]:
    """Return the names of all formats."""
    return tuple(EXPORTS)


def export_named(name: str) -> Export:
    """Return a format; BadFilter, with all names, if none has that name."""
    if name not in EXPORTS:
        raise BadFilter(Note("no_such_format", format=name, there=", ".join(EXPORTS)))
    return EXPORTS[name]
