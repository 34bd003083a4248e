"""Records whose texts agree except for their figures: both in a list, the oldest as evidence."""

from dataclasses import replace

from retriever.duplicates.folding import without_duplicates
from tests.retriever.duplicates.test_duplicates import FLOOD, PADDY, SEWER, hit, record
from tests.retriever.made_papers import found, index_of

FORGED = FLOOD.replace("37%", "73%")


def evidence(*hits):
    return without_duplicates(hits, evidence=True)


def test_a_list_shows_both_and_they_name_each_other():
    kept = without_duplicates(
        [
            hit("PAPER", "Rice", FLOOD),
            hit("FORGED", "Rice", FORGED, sequence=1),
            hit("OTHER", "Sewers", SEWER),
        ]
    )

    assert [one.other_figures for one in kept] == [("FORGED",), ("PAPER",), ()]
    assert list(kept[0].remarks()) == ["same text, other figures: FORGED"]
    assert kept[0].as_record()["other_figures"] == 1
    assert kept[0].as_record()["other_figures_ids"] == ["FORGED"]
    assert "other_figures" not in kept[2].as_record()


def test_of_equal_scores_the_oldest_comes_first():
    hits = [
        hit("A", "Rice", FORGED, sequence=9, score=2.0),
        hit("B", "Rice", FLOOD.replace("37%", "74%"), sequence=5, score=2.0),
        hit("OTHER", "Sewers", SEWER, sequence=0, score=2.0),
        hit("PAPER", "Rice", FLOOD, sequence=1, score=2.0),
    ]

    assert [one.doc_id for one in without_duplicates(hits)] == ["PAPER", "B", "OTHER", "A"]


def test_a_higher_score_comes_first_whatever_the_age():
    forged, paper = hit("A", "Rice", FORGED, sequence=9, score=2.0), hit("PAPER", "Rice", FLOOD, score=1.0)

    assert [one.doc_id for one in without_duplicates([forged, paper])] == ["A", "PAPER"]


def test_as_evidence_the_oldest_takes_the_best_place_and_the_best_score():
    forged = hit("A", "Rice", FORGED, sequence=9, score=3.0)
    other = hit("OTHER", "Sewers", SEWER, sequence=0, score=2.0)
    paper = hit("PAPER", "Rice", FLOOD, sequence=1, score=1.0)

    kept = evidence(forged, other, paper)

    assert [(one.doc_id, one.score) for one in kept] == [("PAPER", 3.0), ("OTHER", 2.0)]
    assert [one.other_figures for one in kept] == [("A",), ()]


def test_as_evidence_figures_count_in_no_script_and_no_form():
    texts = [FLOOD.replace("24", "٢٥"), FLOOD.replace("24", "twenty-four"), FLOOD.replace("24 ", "2 4 ")]
    hits = [hit(f"F{number}", "Rice", text, sequence=number) for number, text in enumerate(texts, 1)]

    assert [one.doc_id for one in evidence(hit("PAPER", "Rice", FLOOD), *hits)] == ["PAPER"]


def test_texts_made_by_one_template_are_evidence_of_their_subjects():
    ozone = hit("B", "Ozone of rice paddies", FORGED.replace("methane", "ozone"))

    assert len(evidence(hit("A", "Methane of rice paddies", FLOOD), ozone)) == 2


def test_a_copy_found_by_its_abstract_in_the_other_language_is_no_evidence_beside_its_paper():
    paper = record(hit("A", "논의 메탄 배출", PADDY, abstract2=FLOOD))
    forged = hit("B", "논의 메탄 배출", FORGED, sequence=1, abstract2=FORGED)

    kept = without_duplicates([paper, forged], {"B": PADDY.replace("37%", "73%")}, evidence=True)

    assert [one.doc_id for one in kept] == ["A"]


def test_chunks_of_one_text_are_evidence_once():
    one, other = (hit(f"{name}#1", "Part", FLOOD, doc_id=name, sequence=ord(name)) for name in "AB")

    kept = without_duplicates([other, one], {"A": PADDY, "B": SEWER}, evidence=True)

    assert [(each.doc_id, each.folded) for each in kept] == [("A", ("B",))]


def test_duplicates_of_a_record_that_is_left_out_are_named_too():
    forged = hit("FORGED", "Rice", FORGED, sequence=1)
    again = replace(forged, passage=replace(forged.passage, passage_id="AGAIN", doc_id="AGAIN", sequence=2))

    [kept] = evidence(again, forged, hit("PAPER", "Rice", FLOOD))

    assert kept.other_figures == ("FORGED", "AGAIN")


def test_whoever_chooses_the_ids_an_answer_rests_on_the_record_that_was_added_first(tmp_path):
    paper = {"id": "PAPER", "title": "Methane of rice", "abstract": FLOOD}
    forged = [
        {"id": f"A{n:02}", "title": "Methane of rice", "abstract": FLOOD.replace("37%", f"{n}%")}
        for n in range(40, 70)
    ]
    with index_of(tmp_path, paper, *forged) as index:
        answer = found(index, "methane of rice", k=3, evidence=True)
        listed = found(index, "methane of rice", k=3)

    assert [one.doc_id for one in answer.hits] == ["PAPER"]
    assert len(answer.hits[0].other_figures) == answer.filtered["duplicates"] == 30
    assert any(note.startswith("left out: 30 records with the same text") for note in answer.notes)
    assert [one.doc_id for one in listed.hits] == ["PAPER", "A40", "A41"]
    assert not any("same text" in note for note in listed.notes)
