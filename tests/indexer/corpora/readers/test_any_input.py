"""No bytes and no values stop a reader; hostile and endless files are read in bounded time and memory."""

import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.formats import READERS, format_of, read_items
from indexer.corpora.readers.streams import Stream
from tests.hostile import VALUES
from tests.indexer.corpora.readers.items import read
from tests.needs import mostly_nightly

HEADS = (
    *(b"", b"TY  - JOUR\n", b"%0 Book\n%A ", b"PMID- 1\n", b"PT J\n", b"RT Book\n", b"id,title\n"),
    *("제목,저자,발행년\n".encode(), b"<MetaData><resultSummary><statusCode>200</statusCode><record>", b"[{"),
)
NOISE = st.binary(max_size=300) | st.text('@misc{a,b="c"}#\\ \n%<&;-/>[]:', max_size=60).map(str.encode)
KEYS = (
    "id _id docid CN DOI title subtitle abstract authors author issued type custom keyword reference "
    "container-title page authorships biblio ids categories abstract_inverted_index referenced_works "
    "cited_by_count authors_parsed versions message year keywords references lang Author Keyword "
    "Pubyear primary_location items"
).split()
RECORD = st.fixed_dictionaries({}, optional={key: st.sampled_from(VALUES) for key in KEYS})
ELEMENTS = (
    "record article dc PubmedArticle arXiv front article-meta MedlineCitation Article abstract "
    "AbstractText sec title p contrib-group contrib name surname body back ref-list ref mixed-citation "
    "pub-id creator date identifier datafield subfield leader header metadata titles dates year"
).split()
XML = st.recursive(
    st.sampled_from(["", "a", "2019", "&amp;", "10.1234/x"]),
    lambda inner: st.tuples(st.sampled_from(ELEMENTS), inner, inner).map(
        lambda made: f"<{made[0]}>{made[1]}{made[2]}</{made[0]}>"
    ),
)
JSON_FORMATS = ("jsonl", "scienceon", "csl-json", "crossref", "openalex", "arxiv", "miracl", "beir")


def are_items(items):
    return all(isinstance(item, Paper | DeadLetter) for item in items)


@given(st.sampled_from(sorted(READERS)), st.sampled_from(HEADS), NOISE, st.sampled_from(["a.x", "a.json"]))
def test_no_bytes_stop_a_reader(format_, head, content, name):
    assert are_items(read(format_, head + content, name))


@given(st.sampled_from(JSON_FORMATS), st.lists(RECORD, max_size=3))
def test_no_values_stop_a_reader(format_, records):
    assert are_items(read(format_, json.dumps(records), "a.json"))


@given(st.sampled_from(("pubmed", "jats", "dublin-core", "marcxml", "arxiv", "endnote")), XML)
def test_no_elements_stop_a_reader(format_, inner):
    assert are_items(read(format_, f"<set>{inner}</set>", "a.xml"))


class Endless:
    """A file of a start, a hundred blocks of 1 MiB, and an end."""

    def __init__(self, start, block, end):
        self.blocks = iter([start, *[block + b"x" * (1 << 20)] * 100, end])
        self.given = 0

    def read1(self, size):
        self.given += 1
        return next(self.blocks, b"")


@pytest.mark.parametrize(
    ("format_", "name", "start", "block", "end", "ids"),
    [
        ("jsonl", "a.jsonl", b'{"id": "', b"", b'"}\n{"id": "b"}\n', ["b"]),
        ("ris", "a", b"TY  - JOUR\n", b"\nAB  - ", b"\nER  - \nTY  - JOUR\nID  - b\nER  - \n", ["a/b"]),
        ("bibtex", "a", b"@misc{a, abstract = {", b"\n", b"}}\n@misc{b}", ["a/b"]),
        *(
            ("dublin-core", "a.xml", start, b"", b"", [])
            for start in mostly_nightly([b"<set><dc>", b"<set><!--", b'<set><dc a="'], by_day={b"<set><dc>"})
            if isinstance(start, bytes)
        ),
    ],
)
def test_a_record_over_64_mib_is_a_dead_letter_and_not_held_in_memory(format_, name, start, block, end, ids):
    file = Endless(start, block, end)

    items = list(read_items(Stream(name, file), format_))

    (dead,) = (item for item in items if isinstance(item, DeadLetter))
    assert (str(64 << 20) in dead.reason, len(dead.head) <= 200) == (True, True)
    assert [item.id for item in items if isinstance(item, Paper)] == ids
    assert ids or file.given < 70


# Without the bounds, each of these files takes more time than a test has, or more memory than there is.
LONG = 40_000
SPACES = " " * LONG
DOUBLING = "@string{a0 = {%s}}\n" % ("x" * 1000) + "".join(
    f"@string{{a{n} = a{n - 1} # a{n - 1}}}\n" for n in range(1, 40)
)
CHAIN = "".join(f"@book{{b{n}, title={{T}}, crossref={{b{n - 1}}}}}\n" for n in range(1, 2000))
BRANCHING = "".join(f"@xdata{{x{n}, xdata={{x{n - 1},x{n - 1} }}}}\n" for n in range(1, 40))
PUBMED = (
    "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>{}</ArticleTitle></Article>"
    "</MedlineCitation></PubmedArticle>"
)
REPEATED_WORD = json.dumps({"id": "W1", "abstract_inverted_index": {"x" * 100_000: list(range(100_000))}})


@pytest.mark.parametrize(
    ("format_", "text", "papers"),
    [
        ("jsonl", '{"id": "a", "x": ' + "[" * 200_000 + '\n{"id": "after"}', 1),
        ("scienceon", "<MetaData>" + "<a>" * 100_000, 0),
        ("openalex", '{"id":"W1","title":' + "[" * 900 + "]" * 900 + "}", 0),
        ("openalex", REPEATED_WORD, 1),
        ("bibtex", DOUBLING + "@article{k, title = a39, abstract = a39 # a39}\n", 1),
        ("bibtex", "@book{b0, title={T}}\n" + CHAIN, 2000),
        ("bibtex", "@xdata{x0, note={n}}\n" + BRANCHING + "@article{k, title={T}, xdata={x39}}\n", 1),
        ("bibtex", "@article{k, title={T}, author={A" + SPACES + "B}}\n", 1),
        ("csv", "id,authors\n1,A" + SPACES + "B\n", 1),
        ("csv", "id,abstract\nP1," + "x" * 5_000_000, 1),
        ("pubmed", PUBMED.format("[" * LONG), 1),
        ("text", "Title\n\nReferences\n\nKim " + "10.1234/" * LONG + " x\nLee a\n", 1),
    ],
)
def test_a_hostile_file_is_read_in_bounded_time(format_, text, papers):
    items = list(read_items(Stream("a.jsonl", BytesIO(text.encode())), format_))

    assert sum(isinstance(item, Paper) for item in items) == papers


@pytest.mark.parametrize(("name", "start"), [("a.json", '{"message":'), ("a.xml", "<!--"), ("a.xml", "<?x ")])
def test_format_of_a_hostile_file_is_detected_in_bounded_time(name, start):
    assert format_of(Stream(name, BytesIO(start.encode() * 60_000))) == ""
