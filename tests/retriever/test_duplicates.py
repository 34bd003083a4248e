"""Different records of one paper among hits."""

import pytest

from indexer.normal_forms import normal_doi, normal_title
from indexer.schema import StoredPassage
from retriever.duplicates import same_paper, without_duplicates
from retriever.hits import Hit
from retriever.settings import RetrieverSettings
from tests.retriever.papers import found, ids, opened, run_of


def hit(passage_id, title="", *, doc_id=None, year=None, **paper):
    passage = StoredPassage(passage_id, doc_id or passage_id, title, "text", "en", "abstract", year)
    return Hit(0, passage, 1.0, paper=paper)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.mark.parametrize(
    "doi",
    [
        "10.5555/ABC.1",
        " 10.5555/abc.1 ",
        "doi:10.5555/abc.1",
        "DOI: 10.5555/abc.1",
        "https://doi.org/10.5555/abc.1",
        "http://dx.doi.org/10.5555/ABC.1",
        "doi.org/10.5555/abc.1",
    ],
)
def test_a_doi_is_the_same_however_it_is_written(doi):
    assert normal_doi(doi) == "10.5555/abc.1"
    assert same_paper(hit("A", "One", doi="10.5555/abc.1"), hit("B", "Other", doi=doi))


def test_another_doi_is_another_paper():
    assert not same_paper(hit("A", doi="10.5555/abc.1"), hit("B", doi="10.5555/abc.10"))


def test_a_doi_without_a_name_says_nothing():
    assert not same_paper(hit("A", doi="https://doi.org/"), hit("B"))
    assert not same_paper(hit("A", doi=""), hit("B", doi=""))


def test_a_title_is_its_letters_and_digits_in_one_case():
    assert normal_title("Ｋnowledge-Graphs: A  Survey (2nd)") == "knowledgegraphsasurvey2nd"
    assert normal_title("지식 그래프의 \u1112\u1161\u11ab\u1100\u116e\u11a8 연구") == "지식그래프의한국연구"


def test_one_title_in_one_year_is_one_paper():
    assert same_paper(
        hit("A", "Knowledge graphs: a survey", year=2020), hit("B", "Knowledge Graphs – A Survey", year=2020)
    )


def test_one_title_in_two_years_is_two_papers():
    one, other = hit("A", "Knowledge graphs", year=2020), hit("B", "Knowledge graphs", year=2021)

    assert not same_paper(one, other)


def test_one_title_with_an_author_in_common_is_one_paper():
    one = hit("A", "Knowledge graphs", year=2020, authors=["Kim, A.", "곽소율"])
    other = hit("B", "Knowledge graphs", year=2021, authors=["곽 소율"])

    assert same_paper(one, other)


def test_one_title_without_year_and_authors_is_two_papers():
    assert not same_paper(hit("A", "Knowledge graphs"), hit("B", "Knowledge graphs"))
    assert not same_paper(
        hit("A", "Knowledge graphs", authors=[""]), hit("B", "Knowledge graphs", authors=["-"])
    )


def test_a_short_title_says_nothing():
    assert not same_paper(hit("A", "Preface", year=2020), hit("B", "Preface", year=2020))
    assert same_paper(hit("A", "Prefaces", year=2020), hit("B", "Prefaces", year=2020))


def test_the_best_hit_of_a_paper_stays():
    best, other, third = hit("B", doi="10.1/x"), hit("A", doi="10.1/X"), hit("C", doi="10.1/y")

    assert without_duplicates([best, other, third]) == [best, third]


def test_passages_of_one_record_are_no_duplicates():
    one = hit("A", "Knowledge graphs", doc_id="A", year=2020, doi="10.1/x")
    other = hit("A#1", "Knowledge graphs", doc_id="A", year=2020, doi="10.1/x")

    assert without_duplicates([one, other]) == [one, other]


def test_a_search_leaves_the_second_record_out_and_counts_it(index):
    result = found(index, "axolotl limbs regrow", "or", RetrieverSettings(drop_incomplete=False))

    assert "DOI-2" not in [one.passage_id for one in result.hits]
    assert result.filtered == {"incomplete": 0, "duplicates": 1}


def test_a_run_keeps_both_records(index):
    assert {"DOI-1", "DOI-2"} <= {one for one, _ in run_of(index, "axolotl limbs regrow")}


def test_equal_texts_without_year_and_author_all_stay(index):
    assert len(ids(index, "quokka", "or", k=20)) == 12
