"""References of tagged lines: RIS, EndNote, PubMed's text, Web of Science, RefWorks; and EndNote's XML.

Sources of the tags: "RIS Format Specifications" (Research Information Systems, 2011), "EndNote import format"
(EndNote's manual), "MEDLINE/PubMed Data Element Descriptions" (NLM), "Web of Science Core Collection Field
Tags" (Clarivate), "RefWorks Tagged Format". Other tags are kept under their own names.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from indexer.corpora.own_exports import EXPORTER
from indexer.corpora.readers.bibliography import (
    columns_of,
    reference_record,
    values_by_key,
)
from indexer.corpora.readers.items import HEAD_BYTES, Found
from indexer.corpora.readers.streams import CONVERT, LINE_BYTES, Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

# The tags of each key of `reference_record`, by format, with commas in place of spaces (see `values_by_key`).
TAGS = """
key                   ris                  endnote    medline  wos    refworks
id                    -                    -          PMID     -      -
pmid                  -                    -          PMID     -      PMID
pmcid                 -                    -          PMC      -      PMCID
type                  TY                   %0         PT       DT     RT
title                 TI|T1|CT|BT          %T         TI|BTI   TI     T1
title2                TT                   %Q         TT       -      -
abstract              AB,N2                %X         AB       AB     AB
authors               AU,A1                %A         FAU,CN|AU AF|AU A1
editors               A2,ED                %E         FED|ED   BE|ED  A2
dates                 PY,Y1,DA             %D,%8      DP       PY,PD  YR,FD
journal               JF|T2|JO|JA|J2|J1    %J|%B      JT|TA    SO     JF|JO|T2
journal_abbreviation  -                    -          TA       JI|J9  -
publisher             PB                   %I         PB       PU     PB
keywords              KW                   %K         OT       DE     K1
doi                   DO,DI                %R         -        DI     DO
other_dois            M3,UR,L3,N1,AN,ID    %U,%M,%1   LID,AID  -      -
url                   UR                   %U         -        -      UL,LK
volume                VL                   %V         VI       VL     VO
issue                 IS|CP                %N         IP       IS     IS
first_page            SP                   -          -        BP     SP
last_page             EP                   -          -        EP     OP
pages                 -                    %P         PG       -      -
issn                  SN                   %@         IS       SN|EI  SN
isbn                  -                    -          -        BN     -
edition               ET                   %7         -        -      ED
place                 CY                   %C         PL       PI     PP
language              LA                   %G         LA       LA     LA
source                DB                   %~         -        -      DS|DB
note                  N1                   %Z         -        -      NO
accession             AN                   %M         -        UT     AN
citation_key          ID                   %F         -        -      ID
cited_by_count        -                    -          -        TC     -
"""


TAGS_OF_FORMAT = columns_of(TAGS)


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a format: the tag and value of a line, the tags that start and end a record.

    Without `last`, only the next record ends a record. Lines `outside` of records are skipped. The values of
    the tags `by_line` are lines, of others the lines are joined.
    """

    line: re.Pattern[str]  # groups: tag, value
    first: str
    last: str = ""
    by_line: Collection[str] = ()
    outside: Collection[str] = ()


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


LAYOUTS = {
    "ris": Layout(_line(r"([A-Z][A-Z0-9])  - ?(.*)"), "TY", "ER", by_line={"KW"}),
    # Some publishers write one space, or indent the lines.
    "lenient ris": Layout(_line(r"[ \t]*([A-Z][A-Z0-9]) {1,2}- ?(.*)"), "TY", "ER", by_line={"KW"}),
    "endnote": Layout(_line(r"(%[0-9A-Z!#$&()*+<>=?@\[\]^~])(?:\s+(.*))?$"), "%0", by_line={"%K"}),
    "medline": Layout(_line(r"([A-Z]{2,4}) {0,2}- ?(.*)"), "PMID"),
    "wos": Layout(
        _line(r"([A-Z][A-Z0-9])(?: (.*))?$"),
        *("PT", "ER"),
        by_line={"AU", "AF", "BE", "ED", "CA", "CR", "C1"},
        outside={"FN", "VR", "EF"},
    ),
    "refworks": Layout(
        _line(
            r"(RT|SR|[AT][1-6]|A[BDNV]|C\d|CL|CN|D[BOS]|ED|FD|I[DS]|J[FO]|K1|L[AKL]|NO|O[LPRT]"
            r"|P[BP]|RD|S[NPT]|U\d{1,2}|UL|VO|W[TPV]|YR|PMC?ID)(?: (.*))?$"
        ),
        "RT",
        by_line={"K1"},
    ),
}
STRICT_START = re.compile(rb"^(?:\xef\xbb\xbf)?TY  - ", re.MULTILINE)
# Paths of EndNote's XML, by the tags with the same meaning.
PATHS = {
    "%A": ("contributors/authors/author",),
    "%E": ("contributors/secondary-authors/author",),
    "%T": ("titles/title",),
    "%Q": ("titles/translated-title",),
    "%J": ("periodical/full-title", "titles/secondary-title"),
    "%S": ("titles/tertiary-title",),
    "%X": ("abstract",),
    "%D": ("dates/year",),
    "%8": ("dates/pub-dates/date",),
    "%K": ("keywords/keyword",),
    "%V": ("volume",),
    "%N": ("number",),
    "%P": ("pages",),
    "%I": ("publisher",),
    "%C": ("pub-location",),
    "%7": ("edition",),
    "%@": ("isbn",),
    "%R": ("electronic-resource-num",),
    "%M": ("accession-num",),
    "%G": ("language",),
    "%U": ("urls/web-urls/url", "urls/related-urls/url"),
    "%>": ("urls/pdf-urls/url",),
    "%Z": ("notes",),
    "%~": ("remote-database-name",),
    "%F": ("rec-number",),
}


@dataclass(slots=True)
class RecordLines:
    """The lines of a record: the number of the first one from 1, their start, size and first problem."""

    line: int
    head: bytes = b""
    problem: str = ""
    size: int = 0  # bytes
    values: dict[str, list[list[str]]] = field(default_factory=dict)  # of each tag, as lists of lines

    def add(self, line: bytes, problem: str) -> None:
        """Count a line, and keep the start of the record and the first problem."""
        self.size += len(line)
        if len(self.head) < HEAD_BYTES:
            self.head += line + b"\n"
        if self.size > LINE_BYTES:
            problem = f"a record of more than {LINE_BYTES} bytes"
        self.problem = self.problem or problem
        if self.problem:
            self.values.clear()


def _read(stream: Stream, format_: str) -> Iterator[Found]:
    """Read the references of a file."""
    is_lenient = format_ == "ris" and not STRICT_START.search(stream.peek())
    layout = LAYOUTS["lenient ris" if is_lenient else format_]
    is_xml = format_ == "endnote" and stream.is_xml
    for reference in _xml_references(stream) if is_xml else _tagged_references(stream, layout):
        record = reference.problem or _record_of(reference, format_, stream)
        yield reference.line, reference.head, record


read_ris = partial(_read, format_="ris")
read_endnote = partial(_read, format_="endnote")
read_medline = partial(_read, format_="medline")
read_wos = partial(_read, format_="wos")
read_refworks = partial(_read, format_="refworks")


def _xml_references(stream: Stream) -> Iterator[RecordLines]:
    """Yield the records of EndNote's XML with the tags of tagged files."""
    for line, element in elements_named(stream, {"record"}):
        reference = RecordLines(line, start_of(element))
        kind = element.find("ref-type")
        if kind is not None:
            reference.values["%0"] = [[kind.get("name", "") or text_in(kind)]]
        for tag, paths in PATHS.items():
            found = next(filter(None, (texts_in(element, path) for path in paths)), [])
            reference.values[tag] = [[text] for text in found]
        yield reference


def _tagged_references(stream: Stream, layout: Layout) -> Iterator[RecordLines]:
    """Yield the records of tagged lines; text between records is skipped."""
    reference: RecordLines | None = None
    lines: list[str] = []  # of the last value
    for number, line, unread in stream.lines():
        text, problem = decode_line(line, number, unread)
        found = layout.line.match(text)
        tag = found[1] if found else ""
        if tag == layout.first:
            if reference:
                yield reference
            reference, lines = RecordLines(number), []
        elif reference is None:
            if problem or (tag and tag not in layout.outside):
                reason = problem or f"{tag} before {layout.first}, which starts a record"
                yield RecordLines(number, line, reason)
            continue
        reference.add(line, problem)
        if tag and tag == layout.last:
            yield reference
            reference = None
        elif found:
            lines = [(found[2] or "").strip()]
            reference.values.setdefault(tag, []).append(lines)
        elif not reference.problem:
            lines.append(text.strip())
    if reference:
        if layout.last:
            reference.add(b"", f"no {layout.last} at its end: the file may be truncated")
        yield reference


def decode_line(line: bytes, number: int, problem: str) -> tuple[str, str]:
    """Return the text of a line without its end, and the problem of the line, '' without one."""
    try:
        return line.decode("utf-8").strip("\r\n"), problem
    except UnicodeDecodeError as error:
        reason = problem or f"invalid UTF-8 at byte {error.start + 1} of line {number}: {CONVERT}"
        return line.decode("utf-8", "replace").strip("\r\n"), reason


def _record_of(reference: RecordLines, format_: str, stream: Stream) -> dict[str, Any]:
    """Return a record in Paper's keys."""
    values: dict[str, list[str]] = {}
    for tag, given in reference.values.items():
        is_by_line = tag in LAYOUTS[format_].by_line
        joined = chain(*given) if is_by_line else (" ".join(filter(None, each)) for each in given)
        if texts := list(filter(None, joined)):
            values[tag] = texts
    found, read = values_by_key(TAGS_OF_FORMAT[format_], values)
    if values.get("DP") == [EXPORTER]:
        found["id"] = found.get("citation_key", [])
    chosen = {*found.get("title", ()), *found.get("journal", ())}
    further = {
        tag: kept[0] if len(kept) == 1 else kept
        for tag in sorted(values.keys() - read)
        if (kept := [text for text in values[tag] if text not in chosen])
    }
    return reference_record(found, stream, further)
