"""Files made to take long or much memory are read, or refused, at once."""

import json
import signal
from io import BytesIO

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers import READERS
from indexer.corpora.readers.detection import format_of
from indexer.corpora.readers.streams import Stream

LONG = 40_000
SPACES = " " * LONG
LIMIT_S = 10  # without the bounds, each file takes minutes or more memory than there is

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


@pytest.fixture(autouse=True)
def limited_time():
    def stop(*_):
        raise TimeoutError(f"more than {LIMIT_S} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("format_", "name", "text", "papers"),
    [
        ("openalex", "a.jsonl", '{"id":"W1","title":' + "[" * 900 + "]" * 900 + "}", 0),
        ("openalex", "a.jsonl", REPEATED_WORD, 1),
        ("bibtex", "a.bib", DOUBLING + "@article{k, title = a39, abstract = a39 # a39}\n", 1),
        ("bibtex", "a.bib", "@book{b0, title={T}}\n" + CHAIN, 2000),
        (
            "bibtex",
            "a.bib",
            "@xdata{x0, note={n}}\n" + BRANCHING + "@article{k, title={T}, xdata={x39}}\n",
            1,
        ),
        ("bibtex", "a.bib", "@article{k, title={T}, author={A" + SPACES + "B}}\n", 1),
        ("csv", "a.csv", "id,authors\n1,A" + SPACES + "B\n", 1),
        ("pubmed", "a.xml", PUBMED.format("[" * LONG), 1),
        ("text", "a.txt", "Title\n\nReferences\n\nKim " + "10.1234/" * LONG + " x\nLee a\n", 1),
    ],
)
def test_hostile_file_is_read_in_bounded_time(format_, name, text, papers):
    items = list(READERS[format_](Stream(name, BytesIO(text.encode()))))

    assert sum(isinstance(item, Paper) for item in items) == papers


@pytest.mark.parametrize(("name", "start"), [("a.json", '{"message":'), ("a.xml", "<!--"), ("a.xml", "<?x ")])
def test_format_of_a_hostile_file_is_detected_in_bounded_time(name, start):
    assert format_of(Stream(name, BytesIO(start.encode() * 60_000))) is None
