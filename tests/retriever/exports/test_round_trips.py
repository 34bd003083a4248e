"""What `--export` writes is indexed again with the same ids and values, in each format."""

import json
from io import BufferedReader, BytesIO

import pytest

from base.sample import SAMPLE_PAPERS
from indexer.corpora.papers import Paper
from indexer.corpora.readers.formats import read_items
from indexer.corpora.readers.streams import Stream
from retriever.exports import export_named
from retriever.reference import csl_item

PAPERS = [json.loads(line) for line in SAMPLE_PAPERS.read_text("utf-8").splitlines()]
HOSTILE = {
    "id": "P1/{a}_%;b",
    "title": "@article{x, 50% #1 of $x_2$ ~ a_b",
    "abstract": "TY - JOUR =1+1 -5 @SUM(A1) p<0.05",
    "lang": "en",
    "authors": ["O'Neil, Sean", "van der Berg, Jan", "World Health Organization", "남궁민재"],
    "keywords": ["C++", "[1]", "50%"],
    "doi": "10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B",
    "url": "https://example.org/a_b?c=%20&d#e",
    "year": 1000,
}
# Fields that each format can hold.
BASIC = (
    *("id", "title", "title2", "abstract", "abstract2", "lang", "authors", "year", "journal", "publisher"),
    *("keywords", "doi", "url", "source", "volume", "issue", "pages"),
)
HELD = {
    "ris": BASIC,
    "bibtex": (*BASIC, "references"),
    "csl-json": (*BASIC, "references"),
    "csv": (*BASIC, "references", "cited_by_count", "reference_list"),
    "jsonl": (*BASIC, "references", "cited_by_count", "reference_list"),
}


def held(record, format_):
    """Return the values that a format can hold; "Ada Kim" and "Kim, Ada" are the same."""
    found = {key: value for key, value in record.items() if key in HELD[format_]}
    return found | ({"authors": csl_item(found)["author"]} if "authors" in found else {})


@pytest.mark.parametrize("format_", HELD)
def test_papers_come_back_with_all_that_the_format_can_hold(format_):
    papers, export = [*PAPERS, HOSTILE], export_named(format_)
    content = b"".join(export.encoded([{"doc_id": one["id"], **one} for one in papers]))
    stream = Stream(f"a{export.extension}", BufferedReader(BytesIO(content)))

    read = [item.record() for item in read_items(stream, format_) if isinstance(item, Paper)]

    assert [held(one, format_) for one in read] == [held(one, format_) for one in papers]
