"""Different records of one paper among hits."""

import pytest

from indexer.files.schema import StoredPassage
from retriever.duplicates import without_duplicates
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from tests.retriever.made_papers import found, opened

FLOOD = (
    "Flooded rice paddies emit methane. We drained 24 plots in midseason for three summers and measured the "
    "gas with closed chambers. Emission fell by 37% and yield stayed the same."
)
SEWER = (
    "Sewer pipes corrode where hydrogen sulfide gathers. We coated 12 pipes of concrete with epoxy resin and "
    "weighed samples every month. Loss of mass fell by half within one year."
)
PADDY = (
    "물이 찬 논은 메탄을 내보낸다. 우리는 세 해 여름 동안 24개 논에서 중간에 물을 떼고 밀폐 상자로 "
    "기체를 쟀다. 메탄 배출량은 37% 줄었고 쌀 수확량은 달라지지 않았다."
)


def hit(passage_id, title="", text="", *, doc_id=None, year=None, score=1.0, **paper):
    passage = StoredPassage(passage_id, doc_id or passage_id, title, text, "en", "abstract", year)
    return Hit(0, passage, score, paper=paper)


def shown(*hits):
    """Return the ids of the hits that are shown."""
    return [one.passage_id for one in without_duplicates(hits)]


def same_paper(one, other):
    return len(without_duplicates([one, other])) == 1


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.mark.parametrize(
    "claimed",
    [
        {"doi": "10.5555/RICE"},
        {"title": "Methane of rice paddies", "year": 2020},
        {"title": "Methane of rice paddies", "authors": ["곽소율"]},
    ],
    ids=["DOI", "title and year", "title and author"],
)
def test_a_record_with_another_text_hides_no_paper_whatever_it_claims(claimed):
    other = hit("OTHER", **{"title": "Sewers", "text": SEWER, **claimed})
    paper = hit("PAPER", "Methane of rice paddies", FLOOD, year=2020, doi="10.5555/rice", authors=["곽소율"])

    assert shown(other, paper) == ["OTHER", "PAPER"]


TITLE = "Knowledge graphs: a survey"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"doi": "10.5555/abc.1"}, {"doi": "https://doi.org/10.5555/ABC.1"}, True),
        ({"doi": "10.5555/abc.1"}, {"doi": "doi:10.5555/abc.10"}, False),
        ({"doi": ""}, {"doi": "https://doi.org/"}, False),
        ({"year": 2020}, {"year": 2020, "title": "Knowledge Graphs – A Survey"}, True),
        ({"year": 2020}, {"year": 2021}, False),
        ({"year": 2020, "authors": ["Kim, A.", "곽소율"]}, {"year": 2021, "authors": ["곽 소율"]}, True),
        ({"authors": [""]}, {"authors": ["-"]}, False),
        ({"year": 2020, "title": "Preface"}, {"year": 2020, "title": "Preface"}, False),
        ({"text": "No abstract available."}, {"text": "No abstract available."}, False),
        ({"text": PADDY}, {"title": "논 메탄", "text": f"요약: {PADDY}"}, True),
    ],
)
def test_records_are_one_paper_by_doi_or_by_title_with_year_or_author(one, other, same):
    assert same_paper(hit("A", **{"title": TITLE, **one}), hit("B", **{"title": TITLE, **other})) is same


def test_hits_of_one_doi_and_different_texts_name_each_other():
    one, other = hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Sewers", SEWER, doi="10.1/X")

    kept = without_duplicates([one, other, hit("C", "Rain", "It rains.", doi="10.1/y")])

    assert [one.same_doi for one in kept] == [("B",), ("A",), ()]
    assert kept[0].as_record()["same_doi"] == ["B"]
    assert list(kept[0].remarks()) == ["same DOI, different text: B"]
    assert "same_doi" not in kept[2].as_record()


def test_a_shortened_text_of_the_same_doi_is_one_paper():
    shortened = (
        "Flooded rice paddies emit methane. Emission fell by 37% with midseason drainage of the plots."
    )

    assert same_paper(hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Paddies", shortened, doi="10.1/x"))
    assert not same_paper(hit("A", "Rice", FLOOD), hit("B", "Paddies", shortened))


def test_records_without_texts_are_one_paper_by_doi_if_their_titles_agree():
    titled = hit("A", "Methane of rice paddies", doi="10.1/x")

    assert same_paper(titled, hit("B", "Methane of rice paddies: a review", doi="10.1/x"))
    assert same_paper(titled, hit("B", "논의 메탄", doi="10.1/x", title2="Methane of rice paddies"))
    assert not same_paper(titled, hit("B", "Sewers of cities", doi="10.1/x"))


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "Methane of rice paddies (2)", "year": 1999, "authors": ["A. N. Other"]},
        {"text": f"{FLOOD} All rights reserved."},
        {"text": FLOOD.upper()},
        {"text": "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in FLOOD)},
        {"text": FLOOD.replace(" ", "\u3000")},
        {"text": f"Abstract: {FLOOD}"},
    ],
    ids=["other metadata", "a notice", "capitals", "full width", "another space", "a heading"],
)
def test_nearly_equal_texts_are_one_paper_without_any_claim(changed):
    paper = hit("PAPER", "Methane of rice paddies", FLOOD, year=2020, doi="10.1/x")
    copy = hit("COPY", **{"title": "Methane of rice paddies", "text": FLOOD, **changed})

    assert shown(paper, copy) == ["PAPER"]


def test_the_best_record_with_a_text_stands_for_the_others_at_the_best_place():
    titled = hit("TITLED", "Methane of rice", doi="10.1/x", score=8.0)
    paper, copy = (hit(name, "Methane of rice", FLOOD, doi="10.1/x", score=1.0) for name in ("PAPER", "COPY"))
    other = hit("OTHER", "Sewers", SEWER, score=5.0)

    kept = without_duplicates([titled, other, paper, copy])

    assert [(one.passage_id, one.score) for one in kept] == [("PAPER", 8.0), ("OTHER", 5.0)]
    assert kept[0].folded == ("TITLED", "COPY")
    record = kept[0].as_record()
    assert (record["folded"], record["folded_ids"]) == (2, ["TITLED", "COPY"])
    assert list(kept[0].remarks()) == ["2 duplicates left out: TITLED, COPY"]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Methane of rice paddies", FLOOD.replace("37%", "3%")),
        ("Ozone of rice paddies", FLOOD.replace("methane", "ozone")),
        ("Methane of rice paddies, part II", SEWER),
    ],
    ids=["a number", "the subject", "the text"],
)
def test_texts_that_differ_in_what_they_say_are_two_papers(title, text):
    assert not same_paper(hit("A", "Methane of rice paddies", FLOOD), hit("B", title, text))


def test_chunks_of_papers_with_different_abstracts_are_two_papers():
    one, other = (hit(f"{name}#1", "Part", FLOOD, doc_id=name) for name in "AB")

    assert len(without_duplicates([one, other], {"A": PADDY, "B": SEWER})) == 2
    assert len(without_duplicates([one, other], {"A": SEWER, "B": SEWER})) == 1
    assert len(without_duplicates([one, other])) == 1


def test_passages_of_one_record_are_no_duplicates():
    one = hit("A", "Knowledge graphs", FLOOD, doc_id="A", year=2020, doi="10.1/x")
    other = hit("A#1", "Knowledge graphs", FLOOD, doc_id="A", year=2020, doi="10.1/x")

    assert without_duplicates([one, other]) == [one, other]


def test_a_search_leaves_the_second_record_out_and_counts_it(index):
    result = found(index, "axolotl limbs regrow", "or", RetrieverSettings(drop_incomplete=False))

    assert "DOI-2" not in [one.passage_id for one in result.hits]
    assert result.filtered == {"incomplete": 0, "duplicates": 1}
    assert result.hits[0].as_record()["folded_ids"] == ["DOI-2"]
