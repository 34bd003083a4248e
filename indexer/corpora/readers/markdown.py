"""Markdown: one paper per file, with fields in its front matter; the first heading is the default title.

The front matter is parsed as lines `key: value`, with lists in brackets or one value per line, the subset of
YAML used in such files.
"""

import re
from collections.abc import Iterator
from typing import Any

from indexer.corpora.full_text.plain import record_of_text
from indexer.corpora.papers import Paper
from indexer.corpora.readers.documents import NoDocument, document_id, read_utf8
from indexer.corpora.readers.items import Item, admitted, dead_letter
from indexer.corpora.readers.streams import Stream

FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<lines>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
ENTRY = re.compile(r"(?P<key>[A-Za-z_][\w-]*)\s*:\s*(?P<value>.*)")
ITEM = re.compile(r"\s*-\s+(?P<value>.*)")
ALIASES = {"author": "authors", "tags": "keywords", "language": "lang", "date": "year", "summary": "abstract"}
LISTS = frozenset({"authors", "keywords", "references"})
UNDERLINED = re.compile(r"^(?P<name>\S.*)\n(?P<line>=+|-{2,})[ \t]*$", re.MULTILINE)
FIRST_HEADING = re.compile(r"\s*#[ \t]+(?P<name>\S.*)(?:\n|$)")
LINK = re.compile(r"!?\[(?P<text>[^\[\]\n]*)\]\((?P<target>[^()\s]*)(?:[ \t]+\"[^\"\n]*\")?\)")
COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
YEAR = re.compile(r"\d{4}")


def read_markdown(stream: Stream) -> Iterator[Item]:
    """Read one paper."""
    try:
        text = read_utf8(stream)
    except NoDocument as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    yield admitted({"id": document_id(stream)} | markdown_record(text), stream.name, 0, text[:200].encode())


def markdown_record(text: str) -> dict[str, Any]:
    """Return a record in Paper's keys; its id is optional and taken from the front matter."""
    text = text.replace("\r\n", "\n")
    given: dict[str, Any] = {}
    if found := FRONT_MATTER.match(text):
        given, text = _front_matter(found["lines"]), text[found.end() :]
    # After the last end mark, unclosed comment starts would each be searched to the end.
    before, mark, behind = text.rpartition("-->")
    text = COMMENT.sub("", before + mark) + behind
    text = UNDERLINED.sub(lambda found: f"{'#' if found['line'][0] == '=' else '##'} {found['name']}", text)
    if heading := FIRST_HEADING.match(text):
        given.setdefault("title", heading["name"].rstrip().rstrip("#").rstrip() or heading["name"].strip())
        text = text[heading.end() :]
    return record_of_text(LINK.sub(_link, text)) | given


def _link(found: re.Match[str]) -> str:
    """Return the text of a link, and its address, which cleaning replaces."""
    shown = found["target"].startswith(("http://", "https://")) and not found[0].startswith("!")
    return (
        f"{found['text']} {found['target']}" if shown and found["text"] != found["target"] else found["text"]
    )


def _front_matter(lines: str) -> dict[str, Any]:
    values: dict[str, list[list[str]]] = {}  # lines of each value
    listed: set[str] = set()
    key = ""
    for line in lines.split("\n"):
        item, entry = ITEM.fullmatch(line), ENTRY.fullmatch(line)
        if item and key:
            values[key].append([_unquoted(item["value"])])
            listed.add(key)
        elif entry:
            key = ALIASES.get(entry["key"].lower(), entry["key"].lower())
            value = entry["value"].strip()
            if value.startswith("[") and value.endswith("]"):
                listed.add(key)
                values[key] = [[_unquoted(part)] for part in value[1:-1].split(",")]
            else:
                values[key] = [[_unquoted(value)]]
        elif key and line[:1].isspace():
            values[key][-1].append(line.strip())
    joined = {key: [" ".join(lines).strip() for lines in found] for key, found in values.items()}
    present = {key: [value for value in found if value] for key, found in joined.items()}
    return {key: _value(key, found, listed=key in listed) for key, found in present.items() if found}


def _value(key: str, values: list[str], *, listed: bool) -> Any:
    if key in LISTS:
        return values if listed else [part.strip() for part in re.split(r";|,\s", values[0]) if part.strip()]
    if key == "year" and (year := YEAR.search(values[0])):
        return int(year[0])
    if listed and key not in Paper.model_fields:
        return values
    return " ".join(values).removeprefix("|").removeprefix(">").strip()


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
