"""arXiv's metadata: JSON lines of its dump, and OAI-PMH responses."""

import json

import pytest

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one

LINE = {
    "id": "0704.0001",
    "submitter": "Pavel Nadolsky",
    "authors": "C. Bal\\'azs, Ada Kim",
    "title": "Calculation of prompt diphoton\n  production at 50\\% of $\\sqrt{s}$",
    "comments": "37 pages",
    "journal-ref": "Phys.Rev.D76:013009,2007",
    "doi": "10.1103/PhysRevD.76.013009",
    "report-no": "ANL-1",
    "categories": "hep-ph cs.CL",
    "license": None,
    "abstract": "  A fully differential\ncalculation.\n",
    "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
    "update_date": "2008-11-26",
    "authors_parsed": [["Bal\\'azs", "C.", ""], ["Kim", "Ada", "Jr", "MIT"]],
}
OAI = """<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>
<record><header><identifier>oai:arXiv.org:0704.0002</identifier></header><metadata>
<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>0704.0002</id><created>2007-03-30</created>
<authors><author><keyname>Streinu</keyname><forenames>Ileana</forenames></author></authors>
<title>Sparsity</title><categories>math.CO cs.CG</categories><abstract>A text.</abstract></arXiv>
</metadata></record>
<record><header status="deleted"><identifier>oai:arXiv.org:0704.0003</identifier></header></record>
<record><header><identifier>oai:arXiv.org:0704.0004</identifier></header><metadata>
<arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>0704.0004</id><submitter>Kim</submitter>
<version version="v1"><date>Sat, 31 Mar 2007 02:26:18 GMT</date></version><title>Raw</title>
<authors>Ada Kim and Boram Jang</authors><categories>cs.IR</categories><abstract>A.</abstract></arXivRaw>
</metadata></record></ListRecords></OAI-PMH>"""


def test_a_line_of_the_dump_is_read_with_tex_as_text():
    assert one("arxiv", json.dumps(LINE), "arxiv.json") == {
        "id": "0704.0001",
        "title": "Calculation of prompt diphoton production at 50% of √s",
        "abstract": "A fully differential calculation.",
        "lang": "en",
        "authors": ["Balázs, C.", "Kim, Ada, Jr"],
        "year": 2007,
        "journal": "Phys.Rev.D76:013009,2007",
        "doi": "10.1103/PhysRevD.76.013009",
        "url": "https://arxiv.org/abs/0704.0001",
        "keywords": ["hep-ph", "cs.CL"],
        "arxiv": "0704.0001",
        "type": "article-journal",
        "note": "37 pages",
        "report_number": "ANL-1",
    }


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("arxiv-metadata-oai-snapshot.json", f"{json.dumps(LINE)}\n{json.dumps(LINE)}\n", ["0704.0001"] * 2),
        ("oai.xml", OAI, ["0704.0002", "0704.0004"]),
    ],
)
def test_the_format_is_recognised_by_keys_or_elements(tmp_path, name, text, ids):
    (tmp_path / name).write_text(text, "utf-8")

    corpus = read_corpus([tmp_path])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("arxiv", ids)


def test_names_and_years_of_a_harvest_are_read(tmp_path):
    (tmp_path / "oai.xml").write_text(OAI, "utf-8")

    first, second = items_of(read_corpus([tmp_path]))

    assert (first.authors, first.year, first.keywords) == (["Streinu, Ileana"], 2007, ["math.CO", "cs.CG"])
    assert (second.authors, second.year) == (["Ada Kim", "Boram Jang"], 2007)
