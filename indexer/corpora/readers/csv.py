"""Tables: CSV and TSV with a header, one paper per row."""

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from base.errors import InvalidCall
from indexer.corpora.names import names_in
from indexer.corpora.own_exports import CSV_COLUMNS, CSV_FURTHER, CSV_SEPARATOR, FORMULA
from indexer.corpora.papers import Paper, language_named
from indexer.corpora.readers.bibliography import count_in, parts_of, person_named, year_within
from indexer.corpora.readers.items import Found, Unreadable
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import CONVERT, LINE_BYTES, Stream
from indexer.corpora.readers.table_layouts import layout_of, record_in

CELL_CHARACTERS = 16 << 20
DELIMITERS = (",", "\t", ";")
FIELDS = tuple(Paper.model_fields)
ALIASES = {"_id": "id", "docid": "id", "text": "abstract", "contents": "abstract", "language": "lang"}
LISTS = frozenset({"authors", "keywords", "references"})
NUMBERS = frozenset({"year", "cited_by_count", "score"})
BETWEEN_PARTS = re.compile(r"[;|]")
# Values of cells by field; invalid text is unchanged, and reported by the validation of Paper.
VALUES: dict[str, Callable[[str], Any]] = {
    "authors": lambda text: [person_named(name) for name in names_in(text)],
    "keywords": lambda text: parts_of([text], BETWEEN_PARTS),
    "references": lambda text: parts_of([text], BETWEEN_PARTS),
    "year": lambda text: year_within(text) or text,
    "cited_by_count": lambda text: text if (count := count_in(text)) is None else count,
    "lang": language_named,
}
# Suffix of a column whose field is already given by another column.
SECOND_COLUMN = "csv:"
SURROGATE = re.compile("[\ud800-\udfff]")  # from a byte that is no UTF-8
EXCEL_DELIMITER = re.compile(
    rb"\s*\"?sep=([^\w\s\"]|\t)\"?[,;\t]*\s*", re.IGNORECASE
)  # a line before the header

RowReader: TypeAlias = Callable[[Sequence[str], Sequence[str]], dict[str, Any]]


def parse_columns(text: str) -> dict[str, str]:
    """Parse `id=Number,title=Name` into {field of Paper: column}. Raises `InvalidCall`."""
    columns: dict[str, str] = {}
    for pair in text.split(","):
        field, equals, column = (part.strip() for part in pair.partition("="))
        field = ALIASES.get(field, field)
        if not equals or not column or field not in FIELDS:
            raise InvalidCall(
                f"columns: {pair.strip()!r} is not FIELD=COLUMN. The fields are {', '.join(FIELDS)}; "
                "separate several pairs by commas."
            )
        if field in columns:
            raise InvalidCall(f"columns: {field} is given twice, as {columns[field]!r} and {column!r}.")
        columns[field] = column
    return columns


def header_of(stream: Stream) -> list[str]:
    """Return the column names of a table; none if the file is empty or has no header."""
    try:
        _, _, cells = next(_rows(stream), (0, b"", ""))
    except Unreadable:
        return []
    return [] if isinstance(cells, str) else _header(cells)


def is_table(head: bytes) -> bool:
    """Check whether the first line of a text is the header of a table with an id, or of a known layout."""
    line, _, rest = head.partition(b"\n")
    line = rest.partition(b"\n")[0] if EXCEL_DELIMITER.fullmatch(line) else line
    cells = csv.reader([line.decode("utf-8", "replace")], delimiter=_delimiter(line))
    header = _header(next(cells, []))
    return len(header) > 1 and ("id" in _fields_of(header, {}).values() or bool(layout_of(header)))


def read_csv(stream: Stream, columns: Mapping[str, str] | None = None) -> Iterator[Found]:
    """Read the rows below a header; `columns` maps Paper's fields to column names.

    Unmapped columns with the name of a field of Paper are that field; other columns are kept under their
    names. Empty cells are absent. Lists are split at `;` and `|`. The cells of SHRAG's own exports are
    restored exactly. Tables of known layouts need no column for the id.
    """
    header: list[str] = []
    read_row: RowReader | None = None
    for line, raw, cells in _rows(stream):
        text = "".join(cells)
        problem = cells if isinstance(cells, str) else "a NUL byte" if "\0" in text else ""
        problem = problem or (f"invalid UTF-8: {CONVERT}" if SURROGATE.search(text) else "")
        if read_row is None:
            header = _header(cells)
            if len(set(header)) < len(header):
                problem = problem or "the header names a column twice"
            read_row = _reader_of_rows(header, columns or {}, stream)
            if problem or read_row is None:
                reason = f"no column for the id among {', '.join(header)}; name it with --columns id=COLUMN"
                raise Unreadable(problem or reason, line, raw)
        elif problem:
            yield line, raw, problem
        else:
            row = [*cells[: len(header)], *filter(None, cells[len(header) :])]
            misfit = f"{len(cells)} cells under a header of {len(header)}"
            yield line, raw, read_row(row, header) if len(row) == len(header) else misfit


def _header(cells: Sequence[str]) -> list[str]:
    """Return the column names, composed; a separator at the end of the line starts no column.

    A column without a name gets its number (`column 3`).
    """
    names = [unicodedata.normalize("NFC", name.strip()) for name in cells]
    while names and not names[-1]:
        names.pop()
    return [name or f"column {number}" for number, name in enumerate(names, 1)]


def _reader_of_rows(header: Sequence[str], columns: Mapping[str, str], stream: Stream) -> RowReader | None:
    """Return the reader of rows below a header, None without a column for the id in an unknown layout."""
    if header[: len(CSV_COLUMNS)] == list(CSV_COLUMNS) and header[-1] == CSV_FURTHER and not columns:
        return _restored
    fields = _fields_of(header, columns)
    layout = {} if columns else layout_of(header)
    if layout and ("id" in layout or "id" not in fields.values()):
        return partial(record_in, layout=layout, stream=stream)
    return partial(_record_of, fields=fields) if "id" in fields.values() else None


def _rows(stream: Stream) -> Iterator[tuple[int, bytes, list[str] | str]]:
    """Yield (line from 1, its bytes, cells or problem) of the rows that are not empty.

    Invalid UTF-8 is decoded to lone surrogates, so that a row is refused as a whole, regardless of its lines.
    Raises `Unreadable` for a row without an end.
    """
    csv.field_size_limit(max(csv.field_size_limit(), CELL_CHARACTERS))
    lines = stream.lines(blank=True)
    first = next(lines, (0, b"", ""))
    declared = EXCEL_DELIMITER.fullmatch(first[1])
    first = next(lines, (0, b"", "")) if declared else first
    delimiter = declared[1].decode("latin-1") if declared else _delimiter(first[1])
    row: list[tuple[int, bytes]] = []  # the lines of the current row

    def texts() -> Iterator[str]:
        size = 0
        for number, line, problem in chain([first], lines):
            size = len(line) + (size if row else 0)
            row.append((number, line))
            if problem or size > LINE_BYTES:
                raise Unreadable(problem or f"a row of more than {LINE_BYTES} bytes", *row[0])
            yield line.decode("utf-8", "surrogateescape") + "\n"
        if row:
            reason = f"a quote without an end: lines {row[0][0]} to {row[-1][0]} are not read"
            raise Unreadable(reason, *row[0])

    reader = csv.reader(texts(), delimiter=delimiter)
    while True:
        row.clear()
        try:
            cells: list[str] | str = next(reader)
            if len(row) > 1:  # a quote inside of a quoted cell may join two rows
                again = (line.decode("utf-8", "surrogateescape") + "\n" for _, line in row)
                list(csv.reader(again, delimiter=delimiter, strict=True))
        except StopIteration:
            return
        except csv.Error as error:
            cells = f"not a row of a table: {error}"
            if len(row) > 1:
                cells = f"a quote within a cell in quotes: lines {row[0][0]} to {row[-1][0]} are not read"
        if any(cells):
            yield (*row[0], cells)


def _delimiter(header: bytes) -> str:
    """Return the most frequent delimiter of the header, a comma if there is none."""
    return max(DELIMITERS, key=lambda delimiter: header.count(delimiter.encode()))


def _fields_of(header: Sequence[str], columns: Mapping[str, str]) -> dict[int, str]:
    """Map the indices of the header's columns to fields of Paper."""
    fields = {header.index(column): field for field, column in columns.items() if column in header}
    for place, name in enumerate(header):
        field = ALIASES.get(name.lower(), name.lower())
        if place not in fields and field in FIELDS and field not in fields.values() and field not in columns:
            fields[place] = field
    return fields


def _record_of(cells: Sequence[str], header: Sequence[str], fields: Mapping[int, str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for place, cell in enumerate(cells):
        text, name = _cleaned(cell.strip()), header[place]
        if not text:
            continue
        if place not in fields:
            record[SECOND_COLUMN + name if name in FIELDS or name in ALIASES else name] = text
        elif fields[place] == "lang" and language_named(text) is None:
            # The language is detected by script then, and the cell's text is kept.
            record[SECOND_COLUMN + name] = text
        else:
            record[fields[place]] = VALUES.get(fields[place], str)(text)
    return record


def _cleaned(text: str) -> str:
    return without_markup(text) if "&" in text or "<" in text else text


def _restored(cells: Sequence[str], header: Sequence[str]) -> dict[str, Any]:
    """Return the record of a row that `--export csv` wrote.

    A value that cannot be restored stays text, which is refused later.
    """
    record: dict[str, Any] = {}
    for name, cell in zip(header, cells, strict=True):
        text = cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell
        if not text:
            continue
        if name in LISTS and not text.startswith("["):
            record[name] = text.split(CSV_SEPARATOR)
        elif name in LISTS or name in NUMBERS or name == CSV_FURTHER:
            value = _parsed(text)
            record |= value if isinstance(value, dict) and name == CSV_FURTHER else {name: value}
        else:
            record[name] = text
    return record


def _parsed(text: str) -> Any:
    """Return the value of JSON text, or the text if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
