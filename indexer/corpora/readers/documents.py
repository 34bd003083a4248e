"""Corpora of documents: one paper per file, with the file name as id. PDF, Markdown and plain text."""

import codecs
import re
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import Any

from base.errors import LibraryMissing
from base.extras import extra_remedy
from indexer.corpora.cleaning import reference_lines, split_sections
from indexer.corpora.full_text.article import keywords_in
from indexer.corpora.full_text.parsing import Complete, ParserPool
from indexer.corpora.full_text.references import entries_in, parse_references
from indexer.corpora.headings import heading_text, inline_heading, kind_of
from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS, Paper
from indexer.corpora.readers.files import ENDINGS
from indexer.corpora.readers.items import Found, Item, Unreadable, make_item
from indexer.corpora.readers.streams import CONVERT, Stream

TEXT_BYTES = 8 << 20
PDF_BYTES = 256 << 20
# Front matter: lines `key: value`, lists in brackets or one value per line, and blocks of lines (`>-`, `|`),
# the subset of YAML used in such files.
FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<lines>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
ENTRY = re.compile(r"^(?P<key>[A-Za-z_][\w-]*)[ \t]*:[ \t]*(?P<value>.*(?:\n(?:[ \t-].*)?)*)", re.MULTILINE)
REMARK = re.compile(r"^#.*\n?", re.MULTILINE)
ITEM = re.compile(r"^[ \t]*-[ \t]+", re.MULTILINE)
PERSON = re.compile(r"name\s*:\s*(?P<name>.*)")  # an author with further keys, of which only the name is read
BLOCK = re.compile(r"[|>][-+\d]{0,2}")
ALIASES = {"author": "authors", "tags": "keywords", "language": "lang", "date": "year", "summary": "abstract"}
LISTS = frozenset({"authors", "keywords", "references"})
YEAR = re.compile(r"\d{4}")
UNDERLINED = re.compile(r"^(?P<name>\S.*)\n(?P<line>=+|-{2,})[ \t]*$", re.MULTILINE)
FIRST_HEADING = re.compile(r"\s*#[ \t]+(?P<name>\S.*)(?:\n|$)")
LINK = re.compile(r"!?\[(?P<text>[^\[\]\n]*)\]\((?P<target>[^()\s]*)(?:[ \t]+\"[^\"\n]*\")?\)")
COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)


def document_id(stream: Stream) -> str:
    """Return the file's name below the corpus folder without its ending, with `_` for invalid characters."""
    name = stream.name_in_corpus.removesuffix(".gz")
    path = PurePosixPath(name)
    stem = str(path.with_suffix("")) if path.suffix.lower() in ENDINGS else name
    return FORBIDDEN_IN_IDENTIFIERS.sub("_", stem)


def _read(stream: Stream, record_of: Callable[[str], dict[str, Any]]) -> Iterator[Found]:
    """Read one paper from the text of a file."""
    data = _read_whole(stream, TEXT_BYTES).removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"invalid UTF-8 at byte {error.start + 1}: {CONVERT}") from None
    if not text.strip():
        raise Unreadable("the file is empty")
    yield 0, text[:200].encode(), {"id": document_id(stream)} | record_of(text)


def _titled_record(text: str) -> dict[str, Any]:
    """Return a record whose title is the first line."""
    title, _, rest = text.strip().partition("\n")
    return {"title": " ".join(title.split()), **record_of_text(rest)}


def check_pdf_library() -> None:
    """Raise `LibraryMissing` if the PDF library is not installed."""
    if find_spec("pypdfium2") is None:
        raise LibraryMissing(
            "reading PDFs requires the library pypdfium2, which is not installed",
            remedy=extra_remedy("pdf"),
        )


def read_pdfs(
    streams: Iterable[Stream], workers: int, complete: Complete | None = None
) -> Generator[Item, None, None]:
    """Yield a paper or a dead letter for each PDF, in order; they are parsed concurrently in processes."""
    with ParserPool(workers, complete=complete) as pool:
        for stream, answer in pool.parse_in_order(map(_contents, streams)):
            record = answer.get("record")
            values = {"id": document_id(stream)} | record if record else answer.get("problem", "")
            yield make_item(values, stream.name, 0, b"%PDF-" if record else b"")


def _contents(stream: Stream) -> tuple[Stream, bytes | str]:
    """Return a stream with its bytes, or with the reason why it cannot be read."""
    try:
        return stream, stream.refused or _read_whole(stream, PDF_BYTES)
    except Unreadable as error:
        return stream, str(error)


def _read_whole(stream: Stream, most_bytes: int) -> bytes:
    """Return all bytes of a file. Raises `Unreadable` for larger or damaged files."""
    content = bytearray()
    while block := stream.read():
        content += block
        if len(content) > most_bytes:
            raise Unreadable(f"a file of more than {most_bytes >> 20} MB")
    if stream.problem:
        raise Unreadable(stream.problem)
    return bytes(content)


def record_of_text(text: str) -> dict[str, Any]:
    """Return a record in Paper's keys without id and title; fields not found in the text are omitted."""
    record: dict[str, Any] = {}
    body: list[str] = []
    lines: list[str] = []
    for line in unicodedata.normalize("NFC", text).splitlines():
        if not (found := inline_heading(line.strip())):
            lines.append(line)
        elif kind_of(found[0]) == "keywords":
            record.setdefault("keywords", keywords_in(found[1]))
        else:
            lines += [f"## {found[0]}", found[1]]
    sections = split_sections("\n".join(lines))
    for section in sections:
        kind = kind_of(heading_text(section.heading))
        if kind == "abstract" and kind not in record:
            record[kind] = section.text
        elif kind == "keywords" and kind not in record:
            record[kind] = keywords_in(section.text)
        else:
            body.append("\n".join(filter(None, (section.heading, section.text))))
    record["body"] = "\n\n".join(body)
    record["reference_list"] = parse_references(entries_in(reference_lines(sections)))
    return {key: value for key, value in record.items() if value}


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


def _front_matter(text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for entry in ENTRY.finditer(REMARK.sub("", text)):
        key, value = ALIASES.get(entry["key"].lower(), entry["key"].lower()), entry["value"].strip()
        first, _, below = value.partition("\n")
        parts = [below] if BLOCK.fullmatch(first.rstrip()) else ITEM.split(value)
        is_list = value.startswith("[") and value.endswith("]")
        may_be_person = key == "authors" or len(parts) > 1
        items = (_item(part, may_be_person) for part in (value[1:-1].split(",") if is_list else parts))
        if values := list(filter(None, items)):
            given[key] = _value(key, values, listed=is_list or len(parts) > 1)
    return given


def _item(text: str, may_be_person: bool) -> str:
    """Return a value on one line; of a person with further keys, the name."""
    first, *others = map(str.strip, text.strip().split("\n"))
    if may_be_person and (person := PERSON.fullmatch(first)):
        first, others = person["name"], [line for line in others if not ENTRY.match(line)]
    value = " ".join(filter(None, (first, *others)))
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _value(key: str, values: list[str], *, listed: bool) -> Any:
    if key in LISTS:
        return values if listed else [part.strip() for part in re.split(r";|,\s", values[0]) if part.strip()]
    if key == "year" and (year := YEAR.search(values[0])):
        return int(year[0])
    return values if listed and key not in Paper.model_fields else " ".join(values)


read_text = partial(_read, record_of=_titled_record)
# Fields are in the front matter; the first heading is the default title.
read_markdown = partial(_read, record_of=markdown_record)
