"""How much of papers set in type comes back: two languages, one and two columns, four styles of lists.

By night they are 200.
"""

import pytest
from rapidfuzz.distance import LCSseq

from benchmarks.corpora.pdfs import generated_pdfs
from benchmarks.pdf import body_of, letters_of, measure
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tests.conftest import BY_NIGHT


@pytest.fixture(scope="module")
def papers():
    return list(generated_pdfs(200 if BY_NIGHT else 16))


@pytest.fixture(scope="module")
def records(papers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pdfs")
    for paper in papers:
        (folder / paper.name).write_bytes(paper.data)
    read = [item for item in read_corpus([folder], workers=2) if isinstance(item, Paper)]
    return {record.id: record for record in read}


@pytest.mark.slow
def test_every_paper_is_read_with_its_title_and_in_the_order_of_the_names(papers, records):
    assert list(records) == sorted(paper.name.removesuffix(".pdf") for paper in papers)
    titles = [(records[paper.name.removesuffix(".pdf")].title, paper.title) for paper in papers]
    assert [pair for pair in titles if pair[0].replace(" ", "") != pair[1].replace(" ", "")] == []


def test_the_characters_come_back_in_order_and_none_that_are_not_there(papers, records):
    wanted = found = came = 0
    for paper in papers:
        want, have = letters_of(paper), body_of(records[paper.name.removesuffix(".pdf")])
        wanted, came, found = wanted + len(want), came + len(have), found + LCSseq.similarity(want, have)

    assert found >= 0.98 * wanted
    assert found >= 0.98 * came


@pytest.mark.parametrize("part", ["en 1", "en 2", "ko 1", "ko 2"])
def test_each_kind_of_paper_is_read_well(papers, records, part):
    quality = measure([(p, records[p.name.removesuffix(".pdf")]) for p in papers if p.kind.startswith(part)])

    assert quality.characters >= 0.98
    assert quality.words >= 0.97
    assert quality.references >= 0.9
