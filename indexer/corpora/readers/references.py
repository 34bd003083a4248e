"""References of tagged lines: RIS, EndNote, PubMed's text, Web of Science, RefWorks; and EndNote's XML.

Sources of the tags: "RIS Format Specifications" (Research Information Systems, 2011), "EndNote import format"
(EndNote's manual), "MEDLINE/PubMed Data Element Descriptions" (NLM), "Web of Science Core Collection Field
Tags" (Clarivate), "RefWorks Tagged Format". Other tags are kept under their own names.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.own_exports import EXPORTER
from indexer.corpora.readers.bibliography import exported_record, reference_record
from indexer.corpora.readers.items import DeadLetter, Item, dead_letter, make_item
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.tagged import Layout, TaggedRecord, tagged_records
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

# The tags of each key of `reference_record`, by format. Of alternatives, separated by |, the first with a
# value counts; the values of several tags, separated by commas, are joined.
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


def columns_of(table: str) -> dict[str, dict[str, str]]:
    """Return the columns of a table by their names: the value of each key, - for none."""
    header, *rows = map(str.split, table.strip().splitlines())
    return {
        name: {row[0]: row[column] for row in rows if row[column] != "-"}
        for column, name in enumerate(header[1:], 1)
    }


TAGS_OF_FORMAT = columns_of(TAGS)
UNREAD = frozenset({"other_dois"})  # keys whose values are kept under their tags
LAYOUTS = {
    "ris": Layout(re.compile(r"([A-Z][A-Z0-9])  - ?(.*)", re.DOTALL), "TY", "ER", by_line={"KW"}),
    # Some publishers write one space, or indent the lines.
    "lenient ris": Layout(
        re.compile(r"[ \t]*([A-Z][A-Z0-9]) {1,2}- ?(.*)", re.DOTALL), "TY", "ER", by_line={"KW"}
    ),
    "endnote": Layout(
        re.compile(r"(%[0-9A-Z!#$&()*+<>=?@\[\]^~])(?:\s+(.*))?$", re.DOTALL), "%0", by_line={"%K"}
    ),
    "medline": Layout(re.compile(r"([A-Z]{2,4}) {0,2}- ?(.*)", re.DOTALL), "PMID"),
    "wos": Layout(
        re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL),
        *("PT", "ER"),
        by_line={"AU", "AF", "BE", "ED", "CA", "CR", "C1"},
        outside={"FN", "VR", "EF"},
    ),
    "refworks": Layout(
        re.compile(
            r"(RT|SR|[AT][1-6]|A[BDNV]|C\d|CL|CN|D[BOS]|ED|FD|I[DS]|J[FO]|K1|L[AKL]|NO|O[LPRT]"
            r"|P[BP]|RD|S[NPT]|U\d{1,2}|UL|VO|W[TPV]|YR|PMC?ID)(?: (.*))?$",
            re.DOTALL,
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


def _read(stream: Stream, format_: str) -> Iterator[Item]:
    """Read references; an invalid one is a dead letter."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    is_lenient = format_ == "ris" and not STRICT_START.search(head)
    layout = LAYOUTS["lenient ris" if is_lenient else format_]
    is_xml = format_ == "endnote" and stream.is_xml
    for record in _records_of_xml(stream) if is_xml else tagged_records(stream, layout):
        if isinstance(record, DeadLetter):
            yield record
        else:
            values = _paper_record(record, TAGS_OF_FORMAT[format_], stream)
            yield make_item(values, stream.name, record.line, record.head)


read_ris = partial(_read, format_="ris")
read_endnote = partial(_read, format_="endnote")
read_medline = partial(_read, format_="medline")
read_wos = partial(_read, format_="wos")
read_refworks = partial(_read, format_="refworks")


def _paper_record(record: TaggedRecord, tags_of_key: Mapping[str, str], stream: Stream) -> dict[str, Any]:
    """Return a record in Paper's keys."""
    read: set[str] = set()
    found: dict[str, list[str]] = {}
    for key, alternatives in tags_of_key.items():
        for tags in (each.split(",") for each in alternatives.split("|")):
            if values := record.all(*tags):
                found[key] = values
                read.update(tags if key not in UNREAD else ())
                break
    if record.all("DP")[:1] == [EXPORTER]:
        own = {"abstract": record.all("AB"), "abstract2": record.all("N2")}
        return exported_record(found | own, "")
    chosen = {value for key in ("title", "journal") for value in found.get(key, ())}
    further = {
        tag: values[0] if len(values) == 1 else values
        for tag in sorted(record.values.keys() - read)
        if (values := [value for value in record.all(tag) if value not in chosen])
    }
    return reference_record(found, stream, further)


def _records_of_xml(stream: Stream) -> Iterator[TaggedRecord | DeadLetter]:
    """Yield the records of EndNote's XML with the tags of tagged files."""
    for found in elements_named(stream, {"record"}):
        yield found if isinstance(found, DeadLetter) else _tagged(found[1], found[0])


def _tagged(element: Element, line: int) -> TaggedRecord:
    record = TaggedRecord(line, start_of(element), by_line=LAYOUTS["endnote"].by_line)
    kind = element.find("ref-type")
    if kind is not None:
        record.put("%0", kind.get("name", "") or text_in(kind))
    for tag, paths in PATHS.items():
        for text in next(filter(None, (texts_in(element, path) for path in paths)), []):
            record.put(tag, text)
    return record
