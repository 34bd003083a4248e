"""XML in pieces: what is refused, and how little is held in memory."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import read as read_format
from tests.needs import mostly_nightly

PARTS = (
    *("abstract", "AbstractText", "sec", "title", "p", "contrib-group", "contrib", "name", "surname", "body"),
    *("back", "ref-list", "ref", "mixed-citation", "pub-id", "creator", "date", "identifier", "datafield"),
    *("subfield", "leader", "header", "metadata", "titles", "dates", "year", "version", "PMID", "Journal"),
)
DOCTYPE = '<!DOCTYPE set PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/x.dtd">'


def read(text):
    content = text if isinstance(text, bytes) else text.encode()
    return list(elements_named(Stream("a.xml", BytesIO(content)), {"record"}))


def texts(items):
    return [(line, "".join(element.itertext())) for line, element in items]


def test_the_outermost_elements_with_a_name_are_records_with_their_lines():
    items = read(
        '<set xmlns="x:y"><other/>\n<record>a<record>b</record></record>\n\n<record>c</record></set>'
    )

    assert texts(items) == [(2, "ab"), (4, "c")]


def test_a_doctype_is_not_followed_and_its_named_characters_are_known():
    assert texts(read(f"{DOCTYPE}<set><record>G&ouml;del&nbsp;&alpha;</record></set>")) == [
        (1, "Gödel\xa0α"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_declared_encoding_is_read(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><set><record>é</record></set>'

    assert texts(read(text.encode(encoding))) == [(1, "é")]


@pytest.mark.parametrize(
    ("text", "line", "fact"),
    [
        ('<!DOCTYPE set [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><set/>', 0, "entities"),
        ('<!DOCTYPE set [<!ENTITY a SYSTEM "file:///etc/passwd">]><set/>', 0, "entities"),
        ('<!DOCTYPE set [<!ENTITY % a SYSTEM "http://a.b/x.dtd"> %a;]><set/>', 0, "entities"),
        ("<set>" + "<a>" * 100_000, 0, "200 levels"),
        ("<set><record>a</record>\n<record>b", 2, "invalid XML"),
        ("<set>\n<record>&unknown;</record></set>", 2, "undefined entity"),
        ("", 1, "no element"),
        (b"<set><record>\xb0\xa1</record></set>", 1, "invalid token"),
        ('<?xml version="1.0" encoding="EUC-JP"?><set/>', 0, "encoding"),
        (b"<set>\0</set>", 1, "invalid token"),
    ],
)
def test_what_is_wrong_is_one_dead_letter(text, line, fact):
    *_, dead = read(text)

    assert (type(dead), dead.line) == (DeadLetter, line)
    assert fact in dead.reason


@pytest.mark.parametrize(
    "start", mostly_nightly([b"<set><record>", b"<set><!--", b'<set><record a="'], by_day={b"<set><record>"})
)
def test_nothing_over_64_mib_is_held_in_memory(start):
    class Long:
        given = 0

        def read1(self, size):
            self.given += 1
            return b"x" * (1 << 20) if self.given > 1 else start

    file = Long()
    (dead,) = items_of(elements_named(Stream("a.xml", file), {"record"}))

    assert str(64 << 20) in dead.reason
    assert file.given < 70


def test_text_outside_of_records_is_skipped():
    class Long:
        blocks = iter([b"<set>", *[b"x" * (1 << 20)] * 100, b"<record>a</record></set>"])

        def read1(self, size):
            return next(self.blocks, b"")

    assert texts(elements_named(Stream("a.xml", Long()), {"record"})) == [(1, "a")]


NAMES = (
    "record",
    "article",
    "dc",
    "PubmedArticle",
    "arXiv",
    "front",
    "article-meta",
    "MedlineCitation",
    "Article",
)
INNER = st.recursive(
    st.sampled_from(["", "a", "2019", "&amp;", "10.1234/x"]),
    lambda inner: st.tuples(st.sampled_from((*NAMES, *PARTS)), inner, inner).map(
        lambda made: f"<{made[0]}>{made[1]}{made[2]}</{made[0]}>"
    ),
)


@given(st.sampled_from(("pubmed", "jats", "dublin-core", "marcxml", "arxiv", "endnote")), INNER)
def test_no_elements_stop_the_readers(format_, inner):
    for item in read_format(format_, f"<set>{inner}</set>", "a.xml"):
        assert isinstance(item, Paper | DeadLetter)


@given(st.binary(max_size=200) | st.text("<record/>&;[]! \n", max_size=60).map(str.encode))
def test_no_bytes_stop_the_parser(content):
    for item in read(content):
        assert isinstance(item, DeadLetter | tuple)
