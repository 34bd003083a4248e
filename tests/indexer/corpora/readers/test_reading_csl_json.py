"""CSL-JSON as Zotero and other programs write it."""

import json
from io import BufferedReader, BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.csl_json import read_csl_json
from indexer.corpora.readers.streams import Stream
from tests.hostile import VALUES
from tests.indexer.corpora.readers.items import items_of

ZOTERO = {
    "id": "http://zotero.org/users/7/items/ABCD",
    "type": "article-journal",
    "abstract": "Methane fell by 40%.",
    "container-title": "Annals of Paddies",
    "container-title-short": "Ann. Paddies",
    "DOI": "10.5555/Paddy.2",
    "ISSN": "1234-5678",
    "issue": "3",
    "language": "en",
    "page": "101-118",
    "title": "Methane from <i>rice</i> paddies",
    "URL": "https://example.org/2",
    "volume": "12",
    "author": [{"family": "Jang", "given": "Boram"}, {"family": "강", "given": "가은"}, {"literal": "WHO"}],
    "editor": [{"family": "Beethoven", "given": "Ludwig", "dropping-particle": "van", "suffix": "Jr."}],
    "accessed": {"date-parts": [["2024", 1, 1]]},
    "issued": {"date-parts": [["2023", 3, 1]]},
    "keyword": "methane, rice",
}


def read(items, name="papers/library.json"):
    content = items if isinstance(items, bytes) else json.dumps(items, indent="\t").encode()
    return list(read_csl_json(Stream(name, BufferedReader(BytesIO(content)), root="papers")))


def one(**item):
    (paper,) = read([item])
    return paper.record()


def test_an_export_of_zotero_is_read():
    assert one(**ZOTERO) == {
        "id": "10.5555/paddy.2",
        "title": "Methane from rice paddies",
        "abstract": "Methane fell by 40%.",
        "lang": "en",
        "authors": ["Jang, Boram", "강가은", "WHO"],
        "editors": ["Beethoven, Ludwig van, Jr."],
        "year": 2023,
        "journal": "Annals of Paddies",
        "container-title-short": "Ann. Paddies",
        "keywords": ["methane", "rice"],
        "doi": "10.5555/Paddy.2",
        "url": "https://example.org/2",
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "issn": "1234-5678",
        "accessed": {"date-parts": [["2024", 1, 1]]},
        "type": "article-journal",
        "citation_key": "http://zotero.org/users/7/items/ABCD",
    }


@pytest.mark.parametrize(
    "issued",
    [
        {"date-parts": [[2019, 3], [2020]]},
        {"raw": "March 2019"},
        {"literal": "2019"},
        {"date-parts": [["2019"]]},
        "2019-03",
        2019,
    ],
)
def test_a_date_is_read_in_each_of_its_forms(issued):
    assert one(id="a", type="book", title="T", issued=issued)["year"] == 2019


def test_an_id_may_be_a_number_and_is_unique_only_in_its_file():
    assert one(id=7, type="book", issued=2019)["id"] == "library/7"


def test_a_variable_with_the_name_of_another_value_is_kept_apart():
    record = one(id="a", type="book", references="Kim 2019", language="tlh", issued=2019)

    assert (record["csl:references"], record["declared_language"]) == ("Kim 2019", "tlh")


@pytest.mark.parametrize(
    "content",
    [
        '[{"id": "a", "type": "book", "title": "A"}, {"id": "b", "type": "book", "issued": {"raw": "2019"}}]',
        '{"id": "b", "type": "article-journal", "container-title": "J"}\n',
    ],
)
def test_the_format_is_recognised_by_its_variables(tmp_path, content):
    (tmp_path / "a.json").write_text(content)

    corpus = read_corpus([tmp_path / "a.json"])

    assert (corpus.format, items_of(corpus)[-1].id) == ("csl-json", "a/b")


@pytest.mark.parametrize(
    "record", ['{"id": "a", "type": "thesis"}', '{"id": "a", "type": "x", "authors": [], "DOI": "d"}']
)
def test_a_record_in_our_own_keys_may_have_a_type(tmp_path, record):
    (tmp_path / "a.jsonl").write_text(record)

    corpus = read_corpus([tmp_path / "a.jsonl"])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("jsonl", ["a"])


ITEM = st.fixed_dictionaries({}, optional={key: st.sampled_from(VALUES) for key in (*ZOTERO, "custom")})


@given(st.lists(ITEM, max_size=3))
def test_no_values_stop_the_reader(items):
    for item in read(json.dumps(items).encode()):
        assert isinstance(item, Paper | DeadLetter)
