"""Tables that map the records of a format to Paper's keys, and the functions that apply them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import DOI_PREFIX
from indexer.corpora.readers.bibliography import (
    count_in,
    drop_empty,
    languages,
    person,
    type_named,
    year_within,
)
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.xml_records import text_in

# "a/b" is the first text at a path, "a/b|c" the first one at several paths, ("a/b", "c") are the different
# texts at all paths, {"a/b": table} are the records at a path; a function gets the record.
Rule: TypeAlias = "str | tuple[str, ...] | dict[str, Table] | Callable[[Any], Any]"
Table: TypeAlias = Mapping[str, Rule]


# Values of single texts by key; other texts have no markup.
CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "id": str,
    "url": str,
    "doi": lambda text: DOI_PREFIX.sub("", text).partition(" ")[0],
    "pmid": lambda text: text.rpartition("/")[2],
    "year": year_within,
    "cited_by_count": count_in,
    "type": type_named,
}


def paper_record(record: Any, table: Table) -> dict[str, Any]:
    """Return a record in Paper's keys; the key `language` of the table is the declared language."""
    paper = map_record(record, table)
    declared = paper.pop("language", "")
    return paper | languages(declared, paper.get("title", "") or paper.get("abstract", ""))


def map_record(record: Any, table: Table) -> dict[str, Any]:
    """Return the values of a record by the rules of a table, without empty ones."""
    values: dict[str, Any] = {}
    for key, rule in table.items():
        if isinstance(rule, str):
            found = (text for path in rule.split("|") for text in texts(record, path))
            converted = map(CONVERSIONS.get(key, without_markup), found)
            values[key] = next((value for value in converted if value not in ("", None)), "")
        elif isinstance(rule, tuple):
            cleaned = (without_markup(text) for path in rule for text in texts(record, path))
            values[key] = list(dict.fromkeys(filter(None, cleaned)))
        elif isinstance(rule, dict):
            entries = (map_record(each, inner) for path, inner in rule.items() for each in find(record, path))
            values[key] = list(filter(None, entries))
        else:
            values[key] = rule(record)
    return drop_empty(values)


def find(record: Any, path: str) -> list[Any]:
    """Return the elements at a path in XML, or the values at a path in a JSON value, through lists."""
    if isinstance(record, Element):
        return record.findall(path)
    values = [record]
    for key in path.split("/"):
        values = _flat([each.get(key) for each in values if isinstance(each, Mapping)])
    return values


def _flat(values: list[Any]) -> list[Any]:
    return [inner for each in values for inner in (_flat(each) if isinstance(each, list) else [each])]


def texts(record: Any, path: str) -> list[str]:
    """Return the texts and numbers at a path, each on one line."""
    return list(filter(None, map(text_of_value, find(record, path))))


def first(record: Any, path: str) -> str:
    """Return the first text at a path, or at one of several; "" without one."""
    return next((text for each in path.split("|") for text in texts(record, each)), "")


def text_of_value(value: Any) -> str:
    """Return the text of an element, or a text or number in JSON; "" for other values."""
    if isinstance(value, Element):
        return text_in(value)
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_text else ""


def people(
    path: str, family: str, given: str = "", suffix: str = "", name: str = ""
) -> Callable[[Any], list[str]]:
    """Return a rule for the names at a path: of persons by their parts, or else whole names."""

    def names(record: Any) -> list[str]:
        parts = (
            [first(each, part) if part else "" for part in (family, given, suffix, name)]
            for each in find(record, path)
        )
        named = (person(*map(without_markup, each[:3])) or without_markup(each[3]) for each in parts)
        return list(dict.fromkeys(filter(None, named)))

    return names
