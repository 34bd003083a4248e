"""Tables that map the records of a format to Paper's keys, and the function that applies them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from indexer.corpora.readers.bibliography import present
from indexer.corpora.readers.markup import without_markup

# "a/b" is the first text at a path, "a/b|c" the first one at several paths, ("a/b", "c") are the different
# texts at all paths; a function gets the record.
Rule: TypeAlias = str | tuple[str, ...] | Callable[[Any], Any]
Table: TypeAlias = Mapping[str, Rule]
VERBATIM = frozenset({"id", "doi", "url"})  # keys whose texts have no markup


def mapped(record: Any, table: Table, texts: Callable[[Any, str], list[str]]) -> dict[str, Any]:
    """Return the values of a record by the rules of a table, without empty ones.

    `texts` returns the texts at a path, on one line each; entities and markup in them are removed.
    """
    values: dict[str, Any] = {}
    for key, rule in table.items():
        if callable(rule):
            values[key] = rule(record)
            continue
        paths = rule.split("|") if isinstance(rule, str) else rule
        found = (text for path in paths for text in texts(record, path))
        cleaned = filter(None, found if key in VERBATIM else map(without_markup, found))
        values[key] = next(cleaned, "") if isinstance(rule, str) else list(dict.fromkeys(cleaned))
    return present(values)


def json_texts(value: Any, path: str) -> list[str]:
    """Return the texts and numbers at a path in a JSON value, through lists."""
    values = [value]
    for key in path.split("/"):
        below = (each.get(key) for each in values if isinstance(each, Mapping))
        values = [each for found in below for each in (found if isinstance(found, list) else [found])]
    return [text for each in values if (text := json_text(each))]


def json_text(value: Any) -> str:
    """Return a text or a number as text on one line, "" for other values."""
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_text else ""
