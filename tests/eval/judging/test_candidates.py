"""The pool of a question: merged records, ranks, and ids in judgements."""

from eval.judging.benchmark import FoundAt, Ranked, candidates_of
from indexer.corpora.papers import Paper

TEXT = "Alternate wetting and drying lowered the methane emission of rice paddies by 48 percent on 64 farms."
RICE = Paper(id="P1", title="Methane of rice paddies", abstract=TEXT, year=2020, doi="10.1/rice")
SAME = Paper(id="S7", title="Methane of rice paddies.", year=2020, doi="10.1/RICE", journal="Paddy")
OTHER = Paper(id="P2", title="Cracks in bells", abstract="We listen to bells.")
COPY = RICE.model_copy(update={"id": "P9"})


def ranked(place, method, *papers, depth=10):
    return Ranked("Q1", place, method, depth, tuple((place, paper) for paper in papers), 1)


def test_a_paper_of_two_methods_is_one_candidate_with_both_ranks():
    rankings = [ranked("papers", "or", OTHER, RICE), ranked("papers", "shrag", RICE)]
    bells, rice = candidates_of(rankings, ["papers"])
    assert (bells.key, rice.key) == (("papers", "P2"), ("papers", "P1"))
    assert bells.found == (FoundAt("papers", "or", 1),)
    assert rice.found == (FoundAt("papers", "or", 2), FoundAt("papers", "shrag", 1))


def test_records_of_index_and_source_are_one_candidate_that_counts_as_the_index_s():
    rankings = [ranked("arxiv", "or", SAME), ranked("papers", "or", OTHER, RICE)]
    candidates = {each.key: each for each in candidates_of(rankings, ["papers", "arxiv"])}
    rice = candidates["papers", "P1"]
    assert rice.found == (FoundAt("papers", "or", 2), FoundAt("arxiv", "or", 1))
    assert rice.paper.journal == "Paddy"
    assert rice.judged_ids("papers", several=True) == ["P1"]
    assert len(candidates) == 2


def test_copies_in_the_index_are_one_candidate_with_both_ids():
    [rice] = candidates_of([ranked("papers", "or", RICE, COPY)], ["papers"])
    assert rice.found == (FoundAt("papers", "or", 1),)
    assert rice.judged_ids("papers", several=False) == ["P1", "P9"]


def test_papers_of_a_ranking_that_was_repeated_are_kept_with_their_last_rank():
    rankings = [ranked("papers", "or", RICE, depth=1), ranked("papers", "or", OTHER, depth=2)]
    assert {each.key[1]: each.best_rank for each in candidates_of(rankings, ["papers"])} == {"P1": 1, "P2": 1}


def test_equal_ids_of_two_sources_are_two_papers():
    bells = OTHER.model_copy(update={"id": "P1"})
    found = candidates_of([ranked("a", "or", RICE), ranked("b", "or", bells)], ["a", "b"])
    assert [each.key for each in found] == [("a", "P1"), ("b", "P1")]
