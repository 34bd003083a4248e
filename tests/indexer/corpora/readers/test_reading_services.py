"""Records of Crossref, OpenAlex and arXiv: lines of their dumps, and responses of their services."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from tests.hostile import VALUES
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

CROSSREF = {
    "indexed": {"timestamp": 1},
    "reference-count": 2,
    "publisher": "Press",
    "issue": "3",
    "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
    "DOI": "10.5555/Paddy.2",
    "type": "journal-article",
    "created": {"date-parts": [[2023, 1, 1]]},
    "page": "101-118",
    "title": ["Methane of <i>rice</i> paddies"],
    "subtitle": ["Two years"],
    "original-title": ["논의 메탄"],
    "author": [
        {"given": "Boram", "family": "Jang", "sequence": "first", "affiliation": []},
        {"given": "가은", "family": "강"},
        {"name": "Paddy Group"},
    ],
    "abstract": "<jats:title>Abstract</jats:title><jats:p>Methane fell &amp; rose.</jats:p>",
    "container-title": ["Annals of Paddies"],
    "issued": {"date-parts": [[2019, 3]]},
    "volume": "12",
    "URL": "http://dx.doi.org/10.5555/paddy.2",
    "ISSN": ["1234-5678"],
    "language": "en",
    "is-referenced-by-count": 7,
    "member": "1",
    "subject": ["Agronomy"],
    "reference": [
        {"key": "1", "DOI": "10.1/x", "article-title": "Paddies", "author": "Kim", "year": "2001a"},
        {"key": "2", "unstructured": "Lee B. Soil. 2002."},
    ],
}
CROSSREF_PAPER = {
    "id": "10.5555/paddy.2",
    "title": "Methane of rice paddies: Two years",
    "title2": "논의 메탄",
    "abstract": "Abstract Methane fell & rose.",
    "lang": "en",
    "authors": ["Jang, Boram", "강가은", "Paddy Group"],
    "year": 2019,
    "journal": "Annals of Paddies",
    "publisher": "Press",
    "keywords": ["Agronomy"],
    "doi": "10.5555/Paddy.2",
    "url": "http://dx.doi.org/10.5555/paddy.2",
    "volume": "12",
    "issue": "3",
    "pages": "101-118",
    "issn": "1234-5678",
    "type": "article-journal",
    "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
    "cited_by_count": 7,
    "references": ["10.1/x"],
    "reference_list": [
        {"title": "Paddies", "year": 2001, "doi": "10.1/x", "authors": ["Kim"]},
        {"text": "Lee B. Soil. 2002."},
    ],
}
OPENALEX = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.5555/paddy.2",
    "title": "Methane of paddies",
    "publication_year": 2019,
    "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/31452104"},
    "language": "en",
    "type": "article",
    "primary_location": {
        "landing_page_url": "https://doi.org/10.5555/paddy.2",
        "source": {"display_name": "Annals", "host_organization_name": "Press", "issn_l": "1234-5678"},
    },
    "authorships": [{"author": {"display_name": "Boram Jang"}}, {"author": {}}],
    "biblio": {"volume": "12", "issue": None, "first_page": "101", "last_page": "118"},
    "keywords": [{"display_name": "Methane"}],
    "topics": [{"display_name": "Rice"}],
    "cited_by_count": 7,
    "is_retracted": False,
    "referenced_works": ["https://openalex.org/W1", "https://openalex.org/W2"],
    "abstract_inverted_index": {"Methane": [0, 3], "fell.": [1], "More": [2]},
}
OPENALEX_PAPER = {
    "id": "W2741809807",
    "title": "Methane of paddies",
    "abstract": "Methane fell. More Methane",
    "lang": "en",
    "authors": ["Boram Jang"],
    "year": 2019,
    "journal": "Annals",
    "publisher": "Press",
    "issn": "1234-5678",
    "keywords": ["Methane"],
    "topics": ["Rice"],
    "doi": "10.5555/paddy.2",
    "pmid": "31452104",
    "url": "https://doi.org/10.5555/paddy.2",
    "volume": "12",
    "pages": "101-118",
    "type": "article-journal",
    "references": ["W1", "W2"],
    "cited_by_count": 7,
    "is_retracted": False,
}
ARXIV = {
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
ARXIV_PAPER = {
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
    ("format_", "record", "paper"),
    [
        ("crossref", CROSSREF, CROSSREF_PAPER),
        ("openalex", OPENALEX, OPENALEX_PAPER),
        ("arxiv", ARXIV, ARXIV_PAPER),
    ],
)
def test_a_record_is_read_with_all_its_values(format_, record, paper):
    assert one(format_, json.dumps(record), "a.jsonl") == paper


MATH = '<mml:math><mml:mi mathvariant="italic">N</mml:mi></mml:math>'


@pytest.mark.parametrize(
    ("values", "read_as"),
    [
        ({"title": [f"Waves in {MATH}-coupled equations"]}, {"title": "Waves in N-coupled equations"}),
        ({"title": ["CO<sub>2</sub> &amp;amp; <b>H</b>"]}, {"title": "CO2 & H"}),
        ({"title": ["H<jats:sub>2</jats:sub>O"]}, {"title": "H2O"}),
        ({"publisher": "Smith &amp; Sons"}, {"publisher": "Smith & Sons"}),
        ({"short-container-title": ["Clin &amp; Ex"]}, {"journal_abbreviation": "Clin & Ex"}),
        ({"author": [{"family": "M&uuml;ller", "given": "H"}]}, {"authors": ["Müller, H"]}),
        ({"URL": "https://a.b/?x=1&copy=2"}, {"url": "https://a.b/?x=1&copy=2"}),
        ({"issued": {"date-parts": [[None]]}, "published": {"date-parts": [["2011"]]}}, {"year": 2011}),
        ({"title": [], "author": None, "issued": None}, {}),
        ({"is-referenced-by-count": -1, "page": None, "article-number": "e7"}, {"pages": "e7"}),
    ],
)
def test_markup_and_missing_values_of_crossref(values, read_as):
    record = one("crossref", json.dumps({"DOI": "10.1/x", "member": "1", **values}), "a.jsonl")

    assert {key: value for key, value in record.items() if key not in {"id", "doi", "lang"}} == read_as


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


def test_arxiv_is_read_from_responses():
    first, second = read("arxiv", OAI, "oai.xml")

    assert (first.id, first.authors, first.year) == ("0704.0002", ["Streinu, Ileana"], 2007)
    assert first.keywords == ["math.CO", "cs.CG"]
    assert (second.id, second.authors, second.year) == ("0704.0004", ["Ada Kim", "Boram Jang"], 2007)


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        (
            "works.json",
            {"message-type": "work-list", "message": {"facets": {}, "items": [CROSSREF]}},
            "crossref",
        ),
        ("work.json", {"message-type": "work", "message": CROSSREF}, "crossref"),
        ("0.json.gz", {"items": [CROSSREF]}, "crossref"),
        ("0.jsonl.gz", CROSSREF, "crossref"),
        ("works.json", {"meta": {"count": 1}, "results": [OPENALEX]}, "openalex"),
        ("updated_date=2024-01-01/part_000.gz", OPENALEX, "openalex"),
        ("arxiv-metadata-oai-snapshot.json", ARXIV, "arxiv"),
    ],
)
def test_dumps_and_responses_are_recognised(tmp_path, name, content, format_):
    path, encoded = tmp_path / name, json.dumps(content).encode()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(encoded) if name.endswith(".gz") else encoded)

    corpus = read_corpus([tmp_path])

    assert (corpus.format, len(items_of(corpus))) == (format_, 1)


@given(
    st.sampled_from(["crossref", "openalex", "arxiv"]),
    st.fixed_dictionaries(
        {}, optional={key: st.sampled_from(VALUES) for key in (*CROSSREF, *OPENALEX, *ARXIV)}
    ),
)
def test_no_values_stop_the_readers(format_, record):
    for item in read(format_, json.dumps(record), "a.jsonl"):
        assert isinstance(item, Paper | DeadLetter)


def test_no_citations_are_a_count():
    assert one("openalex", '{"id": "W1", "cited_by_count": 0}', "a.jsonl")["cited_by_count"] == 0
