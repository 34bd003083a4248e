"""Different records of one paper among hits."""

from indexer.files.schema import StoredPassage
from retriever.duplicates import without_duplicates
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from tests.retriever.made_papers import found

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


def test_hits_of_one_doi_and_different_texts_name_each_other():
    one, other = hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Sewers", SEWER, doi="10.1/X")

    kept = without_duplicates([one, other, hit("C", "Rain", "It rains.", doi="10.1/y")])

    assert [one.same_doi for one in kept] == [("B",), ("A",), ()]
    assert kept[0].as_record()["same_doi"] == ["B"]
    assert list(kept[0].remarks()) == ["same DOI, different text: B"]
    assert "same_doi" not in kept[2].as_record()


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


def test_chunks_of_papers_with_different_abstracts_are_two_papers():
    one, other = (hit(f"{name}#1", "Part", FLOOD, doc_id=name) for name in "AB")

    assert len(without_duplicates([one, other], {"A": PADDY, "B": SEWER})) == 2
    assert len(without_duplicates([one, other], {"A": SEWER, "B": SEWER})) == 1
    assert len(without_duplicates([one, other])) == 1


def test_a_search_leaves_the_second_record_out_and_counts_it(index):
    result = found(index, "axolotl limbs regrow", "or", RetrieverSettings(drop_incomplete=False))

    assert "DOI-2" not in [one.passage_id for one in result.hits]
    assert result.filtered == {"incomplete": 0, "duplicates": 1}
    assert result.hits[0].as_record()["folded_ids"] == ["DOI-2"]
