"""References of tagged lines: RIS, EndNote, PubMed's text, Web of Science, RefWorks; and EndNote's XML.

Sources of the tags: "RIS Format Specifications" (Research Information Systems, 2011), "EndNote import format"
(EndNote's manual), "MEDLINE/PubMed Data Element Descriptions" (NLM), "Web of Science Core Collection Field
Tags" (Clarivate), "RefWorks Tagged Format". Other tags are kept under their own names.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.own_exports import EXPORTER
from indexer.corpora.readers.bibliography import exported_record, reference_record
from indexer.corpora.readers.items import DeadLetter, Item, dead_letter, make_item
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.tagged import Layout, TaggedRecord, tagged_records
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in


@dataclass(frozen=True, slots=True)
class ReferenceFormat:
    """A format of tagged lines.

    `tags` has the tags of each key of `reference_record`; of alternatives, separated by |, the first with a
    value counts. The values of the tags `by_line` are lines, of others the lines are joined.
    """

    layout: Layout
    tags: Mapping[str, str]
    by_line: frozenset[str]

    def record(self, record: TaggedRecord, stream: Stream) -> dict[str, Any]:
        """Return the record in Paper's keys."""
        read: set[str] = set()
        found: dict[str, list[str]] = {}
        for key, alternatives in self.tags.items():
            for tags in map(str.split, alternatives.split("|")):
                if values := [value for tag in tags for value in self._values(record, tag)]:
                    found[key] = values
                    read.update(tags if key not in UNREAD else ())
                    break
        if record.first("DP") == EXPORTER:
            own = {"abstract": record.all("AB"), "abstract2": record.all("N2")}
            return exported_record(found | own, "")
        chosen = {value for key in ("title", "journal") for value in found.get(key, ())}
        further = {
            tag: values[0] if len(values) == 1 else values
            for tag in sorted(record.values.keys() - read)
            if (values := [value for value in self._values(record, tag) if value not in chosen])
        }
        return reference_record(found, stream, further)

    def _values(self, record: TaggedRecord, tag: str) -> list[str]:
        return record.lines(tag) if tag in self.by_line else record.all(tag)


UNREAD = frozenset({"other_dois"})  # keys whose values are kept under their tags
RIS = ReferenceFormat(
    Layout(re.compile(r"([A-Z][A-Z0-9])  - ?(.*)", re.DOTALL), "TY", "ER"),
    {
        "type": "TY",
        "title": "TI|T1|CT|BT",
        "title2": "TT",
        "authors": "AU A1",
        "editors": "A2 ED",
        "abstract": "AB N2",
        "dates": "PY Y1 DA",
        "journal": "JF|T2|JO|JA|J2|J1",
        "publisher": "PB",
        "keywords": "KW",
        "doi": "DO DI",
        "other_dois": "M3 UR L3 N1 AN ID",
        "url": "UR",
        "issn": "SN",
        "volume": "VL",
        "issue": "IS|CP",
        "first_page": "SP",
        "last_page": "EP",
        "edition": "ET",
        "place": "CY",
        "language": "LA",
        "source": "DB",
        "note": "N1",
        "accession": "AN",
        "citation_key": "ID",
    },
    frozenset({"KW"}),
)
# Some publishers write one space, or indent the lines.
LENIENT_RIS = replace(
    RIS, layout=replace(RIS.layout, line=re.compile(r"[ \t]*([A-Z][A-Z0-9]) {1,2}- ?(.*)", re.DOTALL))
)
STRICT_START = re.compile(rb"^(?:\xef\xbb\xbf)?TY  - ", re.MULTILINE)
ENDNOTE = ReferenceFormat(
    Layout(re.compile(r"(%[0-9A-Z!#$&()*+<>=?@\[\]^~])(?:\s+(.*))?$", re.DOTALL), "%0"),
    {
        "type": "%0",
        "title": "%T",
        "title2": "%Q",
        "authors": "%A",
        "editors": "%E",
        "abstract": "%X",
        "dates": "%D %8",
        "journal": "%J|%B",
        "publisher": "%I",
        "keywords": "%K",
        "doi": "%R",
        "other_dois": "%U %M %1",
        "url": "%U",
        "volume": "%V",
        "issue": "%N",
        "pages": "%P",
        "issn": "%@",
        "edition": "%7",
        "place": "%C",
        "language": "%G",
        "source": "%~",
        "note": "%Z",
        "accession": "%M",
        "citation_key": "%F",
    },
    frozenset({"%K"}),
)
MEDLINE = ReferenceFormat(
    Layout(re.compile(r"([A-Z]{2,4}) {0,2}- ?(.*)", re.DOTALL), "PMID"),
    {
        "id": "PMID",
        "pmid": "PMID",
        "pmcid": "PMC",
        "title": "TI|BTI",
        "title2": "TT",
        "abstract": "AB",
        "authors": "FAU CN|AU",
        "editors": "FED|ED",
        "journal": "JT|TA",
        "journal_abbreviation": "TA",
        "dates": "DP",
        "volume": "VI",
        "issue": "IP",
        "pages": "PG",
        "issn": "IS",
        "place": "PL",
        "publisher": "PB",
        "keywords": "OT",
        "other_dois": "LID AID",
        "language": "LA",
        "type": "PT",
    },
    frozenset(),
)
WOS = ReferenceFormat(
    Layout(
        re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL),
        "PT",
        "ER",
        outside=frozenset({"FN", "VR", "EF"}),
    ),
    {
        "type": "DT",
        "title": "TI",
        "authors": "AF|AU",
        "editors": "BE|ED",
        "abstract": "AB",
        "dates": "PY PD",
        "journal": "SO",
        "journal_abbreviation": "JI|J9",
        "publisher": "PU",
        "keywords": "DE",
        "doi": "DI",
        "volume": "VL",
        "issue": "IS",
        "first_page": "BP",
        "last_page": "EP",
        "place": "PI",
        "issn": "SN|EI",
        "isbn": "BN",
        "language": "LA",
        "accession": "UT",
        "cited_by_count": "TC",
    },
    frozenset("AU AF BE ED CA CR C1".split()),
)
REFWORKS = ReferenceFormat(
    Layout(
        re.compile(
            r"(RT|SR|[AT][1-6]|A[BDNV]|C\d|CL|CN|D[BOS]|ED|FD|I[DS]|J[FO]|K1|L[AKL]|NO|O[LPRT]"
            r"|P[BP]|RD|S[NPT]|U\d{1,2}|UL|VO|W[TPV]|YR|PMC?ID)(?: (.*))?$",
            re.DOTALL,
        ),
        "RT",
    ),
    {
        "type": "RT",
        "title": "T1",
        "authors": "A1",
        "editors": "A2",
        "abstract": "AB",
        "dates": "YR FD",
        "journal": "JF|JO|T2",
        "publisher": "PB",
        "keywords": "K1",
        "doi": "DO",
        "url": "UL LK",
        "volume": "VO",
        "issue": "IS",
        "first_page": "SP",
        "last_page": "OP",
        "place": "PP",
        "issn": "SN",
        "edition": "ED",
        "language": "LA",
        "source": "DS|DB",
        "note": "NO",
        "accession": "AN",
        "citation_key": "ID",
        "pmid": "PMID",
        "pmcid": "PMCID",
    },
    frozenset({"K1"}),
)
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


def _read(stream: Stream, format_: ReferenceFormat) -> Iterator[Item]:
    """Read references; an invalid one is a dead letter."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    if format_ is RIS and not STRICT_START.search(head):
        format_ = LENIENT_RIS
    is_xml = format_ is ENDNOTE and head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<")
    for record in _records_of_xml(stream) if is_xml else tagged_records(stream, format_.layout):
        if isinstance(record, DeadLetter):
            yield record
        else:
            yield make_item(format_.record(record, stream), stream.name, record.line, record.head)


read_ris = partial(_read, format_=RIS)
read_endnote = partial(_read, format_=ENDNOTE)
read_medline = partial(_read, format_=MEDLINE)
read_wos = partial(_read, format_=WOS)
read_refworks = partial(_read, format_=REFWORKS)


def _records_of_xml(stream: Stream) -> Iterator[TaggedRecord | DeadLetter]:
    """Yield the records of EndNote's XML with the tags of tagged files."""
    for found in elements_named(stream, {"record"}):
        yield found if isinstance(found, DeadLetter) else _tagged(found[1], found[0])


def _tagged(element: Element, line: int) -> TaggedRecord:
    record = TaggedRecord(line, start_of(element))
    kind = element.find("ref-type")
    if kind is not None:
        record.put("%0", kind.get("name", "") or text_in(kind))
    for tag, paths in PATHS.items():
        for text in next(filter(None, (texts_in(element, path) for path in paths)), []):
            record.put(tag, text)
    return record
