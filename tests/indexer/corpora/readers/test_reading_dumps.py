"""Works of Crossref and OpenAlex: lines of their dumps, and responses of their services."""

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


def test_a_work_of_crossref_is_read():
    assert one("crossref", json.dumps(CROSSREF), "a.jsonl") == {
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


def test_a_work_of_openalex_is_read_with_its_abstract_in_order():
    assert one("openalex", json.dumps(OPENALEX), "a.jsonl") == {
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


WORKS_RESPONSE = {"status": "ok", "message-type": "work-list", "message": {"facets": {}, "items": [CROSSREF]}}
WORK_RESPONSE = {"status": "ok", "message-type": "work", "message": CROSSREF}


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        ("works.json", json.dumps(WORKS_RESPONSE, indent=2), "crossref"),
        ("work.json", json.dumps(WORK_RESPONSE), "crossref"),
        ("0.json.gz", json.dumps({"items": [CROSSREF]}), "crossref"),
        ("0.jsonl.gz", json.dumps(CROSSREF), "crossref"),
        ("works.json", json.dumps({"meta": {"count": 1}, "results": [OPENALEX]}), "openalex"),
        ("part_000.gz", json.dumps(OPENALEX), "openalex"),
    ],
)
def test_dumps_and_responses_are_recognised(tmp_path, name, content, format_):
    encoded = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(encoded) if name.endswith(".gz") else encoded)

    corpus = read_corpus([tmp_path / name])

    assert (corpus.format, len(items_of(corpus))) == (format_, 1)


def test_the_parts_of_a_snapshot_are_found_in_its_folders(tmp_path):
    folder = tmp_path / "works" / "updated_date=2024-01-01"
    folder.mkdir(parents=True)
    (folder / "part_000.gz").write_bytes(gzip.compress(json.dumps(OPENALEX).encode()))
    (tmp_path / "manifest").write_text("{}")

    corpus = read_corpus([tmp_path])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("openalex", ["W2741809807"])


@given(
    st.sampled_from(["crossref", "openalex", "arxiv"]),
    st.fixed_dictionaries(
        {},
        optional={
            key: st.sampled_from(VALUES) for key in (*CROSSREF, *OPENALEX, "authors_parsed", "versions")
        },
    ),
)
def test_no_values_stop_the_readers(format_, record):
    for item in read(format_, json.dumps(record), "a.jsonl"):
        assert isinstance(item, Paper | DeadLetter)
