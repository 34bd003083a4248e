"""The generated corpus: reproducible, and drawn by Zipf's law; figures and their bars."""

from benchmarks.corpora.generated import (
    DOCUMENT_TOKENS,
    QUESTION_TERMS,
    documents,
    questions,
    records,
    records_of_words,
)
from benchmarks.figures import Figure, percentile
from benchmarks.progressive import measure_in_turn


def test_a_document_has_sixty_words_of_which_five_are_the_title_and_is_the_same_every_time():
    (document,) = documents(1)
    assert (len(document.words), document.words[:5]) == (DOCUMENT_TOKENS, ("4", "5n", "ff", "2lzm", "4l4"))
    assert list(documents(3)) == list(documents(3))
    [record] = records_of_words(1)
    assert (record["title"], record["abstract"]) == ("4 5n ff 2lzm 4l4", " ".join(document.words[5:]))


def test_records_have_sentences_of_the_sample_unless_they_are_a_catalogue():
    made, catalogue = list(records(200)), list(records(3, abstracts=False))
    assert 0.5 < sum(record["lang"] == "ko" for record in made) / 200 < 0.7
    assert all(record["abstract"].endswith(".") for record in made)
    assert catalogue == [{key: of[key] for key in of if key != "abstract"} for of in made[:3]]


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one():
    # Documents are drawn 10,000 at a time: the larger corpus needs a second block.
    smaller, larger = list(documents(3)), list(documents(10_001))
    assert larger[:3] == smaller
    assert (len(larger), larger[-1].number) == (10_001, 10_000)
    assert larger[10_000].words != larger[0].words


def test_a_question_has_ten_distinct_words_the_rarest_first():
    for question in questions(20):
        ranks = [int(term, 36) for term in question]

        assert len(set(question)) == QUESTION_TERMS == 10
        assert ranks == sorted(ranks, reverse=True)


def test_figures_are_percentiles_by_nearest_rank_and_bars_are_met_from_one_side():
    assert [percentile([3, 1, 2, 4], share) for share in (0.5, 0.95, 0.25)] == [2, 4, 1]
    met = [
        Figure("", "", 2.0, bar=bar, higher_is_better=higher).met
        for bar, higher in ((1, False), (3, False), (1, True), (3, True), (None, True))
    ]
    assert met == [False, True, True, False, None]


def test_variants_alternate_over_the_inputs():
    order = []
    seconds = measure_in_turn(
        {"a": lambda n: order.append(f"a{n}"), "b": lambda n: order.append(f"b{n}")}, [1, 2]
    )
    assert (order, {name: len(each) for name, each in seconds.items()}) == (
        ["a1", "b1", "b2", "a2"],
        {"a": 2, "b": 2},
    )
