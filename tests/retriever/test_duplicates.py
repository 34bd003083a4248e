"""Different records of one paper among hits."""

from dataclasses import replace

import pytest

from indexer.corpora.normal_forms import normal_doi, normal_title
from indexer.files.schema import StoredPassage
from retriever.duplicates import without_duplicates
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from tests.retriever.made_papers import found, ids, index_of, opened, run_of

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
    assert same_paper(hit("A", "Graphs", doi="10.5555/abc.1"), hit("B", "Graphs", doi=doi))


def test_another_doi_is_another_paper():
    assert not same_paper(hit("A", "Graphs", doi="10.5555/abc.1"), hit("B", "Graphs", doi="10.5555/abc.10"))


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


def test_a_text_within_a_much_longer_one_is_another_paper():
    longer = f"{FLOOD} {SEWER} " + " ".join(f"sale{word}" for word in range(60))

    assert not same_paper(hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Rice", longer, doi="10.1/x"))


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


def test_korean_copies_are_folded():
    paper = hit("PAPER", "논의 메탄 배출", PADDY)

    assert shown(paper, hit("COPY", "논 메탄", f"요약: {PADDY}")) == ["PAPER"]


def test_bibliographies_of_other_years_are_two_works_though_one_description_holds_the_other():
    described = (
        "This bibliography cites studies of methane from flooded rice, of its measurement in the field, "
        "of drainage and of straw, and of what farmers gain and lose by them"
    )
    one = hit("A", "Methane of rice, 1979-1980", f"{described}. It is updated.")
    other = hit("B", "Methane of rice, 1981-1982", f"{described}, with an index of all authors and journals.")

    assert not same_paper(one, other)


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


def test_a_hit_lists_twenty_of_its_copies_and_counts_all():
    kept = without_duplicates([hit(f"P{n}", "Rice", FLOOD) for n in range(31)])

    assert [(one.passage_id, len(one.folded)) for one in kept] == [("P0", 30)]
    assert len(kept[0].as_record()["folded_ids"]) == 20
    assert next(kept[0].remarks()).endswith("P19, P20, …")


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


def test_a_short_text_alone_says_nothing():
    assert not same_paper(
        hit("A", "Rice", "No abstract available."), hit("B", "Sewers", "No abstract available.")
    )


def record(hit):
    """Return a hit whose passage is its record's abstract."""
    return replace(hit, passage=replace(hit.passage, record="{}"))


def test_one_abstract_in_common_is_enough_for_records_with_abstracts_in_two_languages():
    paper = record(hit("A", "논의 메탄 배출", PADDY, doi="10.1/x", abstract2=FLOOD))

    assert same_paper(paper, record(hit("B", "Methane of rice paddies", FLOOD, doi="10.1/x")))
    assert same_paper(paper, record(hit("B", "논의 메탄 배출", PADDY, doi="10.1/y")))
    assert not same_paper(paper, record(hit("B", "하수도의 부식", SEWER, doi="10.1/x")))


@pytest.mark.parametrize(("title2", "one"), [("Methane of rice paddies", True), ("Sewers of cities", False)])
def test_abstracts_in_different_languages_are_one_paper_by_doi_if_a_title_agrees(title2, one):
    english = record(hit("A", "Methane of rice paddies", FLOOD, doi="10.1/x"))

    assert same_paper(english, record(hit("B", "논의 메탄 배출", PADDY, doi="10.1/x", title2=title2))) is one


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


def test_copies_do_not_take_the_places_of_other_papers(tmp_path):
    copies = [{"id": f"COPY{n}", "title": f"Rice ({n})", "abstract": FLOOD} for n in range(60)]
    others = [
        {"id": f"OTHER{n}", "title": "Rice", "abstract": f"Rice was measured in {2000 + n}."}
        for n in range(3)
    ]
    with index_of(tmp_path, {"id": "PAPER", "title": "Rice", "abstract": FLOOD}, *copies, *others) as index:
        result = found(index, "methane of rice paddies", k=4)

    assert {one.doc_id for one in result.hits} == {"PAPER", "OTHER0", "OTHER1", "OTHER2"}
    assert result.filtered["duplicates"] == len(result.hits[0].folded) > 40


def test_a_run_keeps_both_records(index):
    assert {"DOI-1", "DOI-2"} <= {one for one, _ in run_of(index, "axolotl limbs regrow")}


def test_equal_texts_without_year_and_author_all_stay(index):
    assert len(ids(index, "quokka", "or", k=20)) == 12
