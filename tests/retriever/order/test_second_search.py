"""Names that lead from one passage to another, on tokens written out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints
from retriever.order.bridges import SECOND_SEARCH
from retriever.order.score_parts import ScoredCandidates
from retriever.order.second_search import (
    BEST,
    LEAST_NAMED,
    LEAST_SHARE,
    LEAST_UNCOVERED,
    UNCOVERED_SHARE,
    WORDS_APART,
    find_sources,
    gains,
    plan_second_search,
)
from retriever.queries.boolean import searched_tokens
from retriever.question.concepts import Concept
from tests.retriever.order.by_hand import FOUR_LONG, counterpart, passage, places, question, read, word

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of a token of 10 of 100 passages
RARE = math.log(1 + 98.5 / 2.5)  # of 2
FREQUENCIES = {"marta": 10, "quillon": 2, "basel": 10, "bern": 10, "born": 10, "rome": 10, "silberberg": 2}
ASKED = question("where was the founder of silberberg born", names=["silberberg"])


def concept(token, importance=1.0, *others):
    return Concept(token, (word(token, importance),), tuple(counterpart(other) for other in others))


CONCEPTS = [concept("founder"), concept("silberberg", 2.0), concept("born", 1.0, "태어났")]
SCORES = [1.0, 0.5, 0.25, 0.2, 0.15, 0.1, 0.05]


def candidates(*texts):
    return [passage(text, passage_id=f"P{place}") for place, text in enumerate(texts)]


def scored(found, scores=SCORES):
    values = np.array([*scores, *[0.0] * len(found.ids)][: len(found.ids)])
    return ScoredCandidates(found.ids, {"base": (values, 1.0)})


def sources(*texts, asked=ASKED, concepts=CONCEPTS):
    """Return the numbers of the passages that are sources, with the words that each leaves uncovered."""
    found = read(*candidates(*texts))
    looked_up = places(found, asked.text, *(token for one in concepts for token in one.tokens))
    chosen = find_sources(asked, concepts, scored(found), looked_up)
    return {row: [one.text for one in left] for row, left in chosen}


def test_a_passage_with_the_name_that_leaves_a_part_uncovered_is_a_source():
    assert sources("silberberg founder") == {0: ["born"]}


def test_a_question_without_a_name_has_no_source():
    assert sources("silberberg founder", asked=question("founder of silberberg born")) == {}


def test_a_passage_without_the_name_is_no_source():
    assert sources("founder", "silberberg founder").keys() == {1}


def test_all_tokens_of_the_name_must_be_there():
    asked = question("founder of silberberg basel born", names=["silberberg basel"])

    assert sources("silberberg founder", "basel silberberg", asked=asked).keys() == {1}


@pytest.mark.parametrize("text", ["silberberg founder born", "silberberg founder 태어났"])
def test_a_passage_that_covers_the_question_is_no_source(text):
    assert sources(text) == {}


def test_the_uncovered_part_must_be_a_good_share_of_the_question():
    def with_uncovered(share):
        return [concept("silberberg", 1 - share), concept("born", share)]

    assert sources("silberberg", concepts=with_uncovered(LEAST_UNCOVERED + 0.01)) == {0: ["born"]}
    assert sources("silberberg", concepts=with_uncovered(LEAST_UNCOVERED - 0.01)) == {}


def test_the_first_of_the_best_passages_are_sources():
    assert list(sources(*["silberberg"] * BEST)) == list(range(SECOND_SEARCH.sources))
    assert list(sources(*["other"] * (BEST - 1), "silberberg")) == [BEST - 1]
    assert sources(*["other"] * BEST, "silberberg") == {}


def planned(*named, asked=ASKED, texts=None, scores=SCORES, left=("born",), ordinary=(), **frequencies):
    """Plan a second search where all passages are sources, each with names."""
    held = [
        passage(text, passage_id=f"P{place}", names=names)
        for place, (names, text) in enumerate(
            zip(named, texts or [" _9 ".join(names) for names in named], strict=True)
        )
    ]
    found = read(*held, ordinary=ordinary, **FREQUENCIES | frequencies)
    uncovered = [concept(token, importance=TENTH) for token in left]
    chosen = [(row, uncovered) for row in range(len(named))]
    return plan_second_search(asked, chosen, scored(found, scores), found, 100)


def bridges(*named, **more):
    return [" ".join(bridge.tokens) for bridge in planned(*named, **more).bridges]


def search_from(found, left, passages=100):
    """Return the second search from candidates of falling scores, with what each source leaves uncovered."""
    search = plan_second_search(ASKED, left, scored(found), found, passages)
    assert search
    return search


def gains_of(search, found):
    by = gains(search, ASKED, found, places(found, *sorted(search.tokens)), FOUR_LONG)
    return by.bridges.tolist(), by.titles.tolist()


def test_the_rarest_names_come_first_by_the_strength_of_their_source():
    assert bridges(["basel", "marta quillon", "quillon"]) == ["marta quillon", "quillon", "basel"]
    # Half the score: the 3.7 of quillon count 1.8, less than the 2.3 of basel.
    assert bridges(["basel"], ["quillon"]) == ["basel", "quillon"]


def test_a_name_in_two_passages_comes_from_the_stronger():
    [bridge] = planned(["basel"], ["basel"]).bridges

    assert (bridge.passage_id, bridge.strength) == ("P0", 1.0)


def test_a_bridge_has_the_strength_of_its_source_and_the_idf_of_its_tokens():
    bridge, _ = planned(["rome"], ["marta quillon"]).bridges

    assert (bridge.passage_id, bridge.strength) == ("P1", 0.5)
    assert bridge.idf == pytest.approx({"marta": TENTH, "quillon": RARE})


def test_names_of_equal_rarity_come_by_their_tokens():
    assert bridges(["rome", "bern", "basel"]) == ["basel", "bern", "rome"]


def test_a_name_of_the_questions_words_is_no_bridge():
    assert planned(["silberberg", "founder of silberberg"]) is None
    assert bridges(["silberberg basel"]) == ["silberberg basel"]


def test_an_excluded_name_is_no_bridge():
    basel = Constraints(exclusions=(Exclusion("Basel", tokens=("basel",), names=("basel",)),))

    assert bridges(["basel", "bern"], asked=replace(ASKED, constraints=basel)) == ["bern"]


def test_a_word_that_is_a_name_in_few_of_its_passages_is_no_bridge():
    assert 1 / FREQUENCIES["basel"] < LEAST_NAMED

    assert planned(["basel"], ordinary=["basel"]) is None
    assert bridges(["basel"]) == ["basel"]


def test_a_name_is_a_bridge_by_one_of_its_tokens():
    assert bridges(["basel quillon"], ordinary=["basel"]) == ["basel quillon"]


@pytest.mark.parametrize(
    ("name", "is_bridge"),
    [("abc", True), ("ab", False), ("h2o", False), ("서울", True), ("곽", False), ("2023", False)],
)
def test_a_short_token_or_one_with_a_digit_is_no_bridge(name, is_bridge):
    assert (planned([name], **{name: 2}) is not None) == is_bridge


@pytest.mark.parametrize("named", [[], [[]]])
def test_without_a_name_there_is_no_second_search(named):
    assert planned(*named, texts=["words"] * len(named)) is None


def test_without_a_score_there_is_no_second_search():
    assert planned(["basel"], scores=[0.0]) is None


def test_so_many_bridges_are_followed():
    names = [f"city{letter}" for letter in "abcdefghijklmnopqrst"]

    assert len(bridges(names, **dict.fromkeys(names, 2))) == SECOND_SEARCH.bridges < len(names)


def test_frequencies_are_those_of_as_many_passages_as_are_searched():
    found = read(passage("basel", names=["basel"]), basel=10)

    [bridge] = search_from(found, [(0, CONCEPTS)], 1_000).bridges

    assert bridge.idf == pytest.approx({"basel": math.log(1 + 900.5 / 100.5)})


def test_the_second_search_asks_for_bridges_and_the_uncovered_words():
    query = planned(["marta quillon"]).query(title_weight=0.0).query

    assert searched_tokens(query) == {"marta": 0.5, "quillon": 0.5, "born": 1.0}


def test_a_word_that_a_weaker_source_leaves_uncovered_weighs_its_strength():
    found = read(passage("basel", passage_id="P0", names=["basel"]), passage("x", passage_id="P1"), basel=2)
    left = [(0, [concept("born")]), (1, [concept("born"), concept("founder")])]

    search = search_from(found, left)

    assert search.uncovered == {"born": 1.0, "founder": 0.5}


def test_a_word_that_no_passage_holds_is_not_asked_for():
    unknown = Concept("unheard", (word("unheard", is_known=False),))
    found = read(passage("basel", names=["basel"]), basel=2)

    search = search_from(found, [(0, [unknown, concept("born")])])

    assert search.uncovered.keys() == {"born"}


def test_each_source_has_a_note_of_its_bridges():
    assert planned(["marta quillon", "basel"], ["rome"]).notes() == [
        "also searched for marta quillon, basel, named in P0",
        "also searched for rome, named in P1",
    ]


NAMED = "silberberg founder marta quillon"


def gained(candidate, *names, text=NAMED, left=("born",)):
    """Return what a candidate gains by bridges and by its title, where the only source holds the names.

    Without any of the uncovered words it has the least share of the gain.
    """
    found = read(passage(text, passage_id="SOURCE", names=names), candidate, **FREQUENCIES)
    uncovered = [concept(token, importance=TENTH) for token in left]
    source, other = zip(*gains_of(search_from(found, [(0, uncovered)]), found), strict=True)
    assert source[1] == 0
    return other


def test_a_passage_whose_title_a_source_names_gains():
    assert gained(passage("a b c d", "Marta Quillon"), "marta quillon") == (0, LEAST_SHARE)


def test_the_gain_is_higher_with_uncovered_words():
    born = passage("born a b c", "Marta Quillon")

    _, by_title = gained(born, "marta quillon", left=("born", "basel", "bern", "rome"))

    # One of four equally important words, once in a text of average length.
    assert by_title == pytest.approx(min(1.0, LEAST_SHARE + UNCOVERED_SHARE / 4))
    assert gained(born, "marta quillon")[1] == 1.0


def test_a_title_s_bracket_need_not_be_named():
    assert gained(passage("a b c d", "Quillon (astronomer)"), "quillon")[1] == LEAST_SHARE


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Marta Basel", "marta quillon"),  # another's name
        ("Quillon Marta", "marta quillon"),  # in another order
        ("Silberberg", "silberberg"),  # the question names it
        ("Marta Quillon of Bern", "marta quillon"),  # only a part of it is named
        ("", "marta quillon"),
    ],
)
def test_another_title_gains_nothing(title, name):
    assert gained(passage("a b c d", title), name, "quillon")[1] == 0


@pytest.mark.parametrize(("between", "gain"), [(WORDS_APART - 1, LEAST_SHARE), (WORDS_APART, 0)])
def test_a_title_is_named_with_few_other_words_between_its_own(between, gain):
    name = " ".join(["marta", *"abcde"[:between], "quillon"])

    assert gained(passage("x", "Marta Quillon"), name, text=name)[1] == gain


def test_a_title_is_named_within_one_name():
    titled, text = passage("x", "Marta Quillon"), "marta quillon"

    assert gained(titled, "marta", "quillon", text=text)[1] == 0
    assert gained(titled, "marta quillon", text=text)[1] == LEAST_SHARE


def test_a_title_that_is_longer_than_any_name_gains_nothing():
    assert gained(passage("a", "Marta Quillon" + " and Marta Quillon" * 50_000), "marta quillon")[1] == 0


def test_a_source_does_not_gain_by_its_own_title():
    found = read(passage(NAMED, "Marta Quillon", "SOURCE", names=["marta quillon"]), **FREQUENCIES)

    assert gains_of(search_from(found, [(0, [concept("born")])]), found) == ([0], [0])


def test_a_title_gains_by_the_strongest_source_that_names_it():
    strong = passage("basel marta quillon", passage_id="P0", names=["basel"])
    weak = passage("quillon", passage_id="P1", names=["quillon"])
    found = read(strong, weak, passage("a", "Quillon", passage_id="P2"), **FREQUENCIES)
    left = [concept("born", importance=TENTH)]

    _, by_title = gains_of(search_from(found, [(0, left), (1, left)]), found)

    assert by_title == [0, 0, 0.5 * LEAST_SHARE]


def test_a_passage_that_holds_a_bridge_gains_by_its_share():
    # In a text of average length a token scores its idf, of all that the bridge has.
    whole, part = (gained(passage(text), "marta quillon")[0] for text in ("marta quillon a b", "marta a b c"))

    assert whole == pytest.approx(LEAST_SHARE)
    assert part == pytest.approx(LEAST_SHARE * TENTH / (TENTH + RARE))


def test_a_bridge_counts_by_the_strength_of_its_source():
    best = passage("words", passage_id="P0")
    source = passage("basel", passage_id="P1", names=["basel"])
    found = read(best, source, passage("basel a b c", passage_id="P2"), **FREQUENCIES)
    left = [concept("born", importance=TENTH)]

    by_bridge, _ = gains_of(search_from(found, [(1, left)]), found)

    assert by_bridge == pytest.approx([0, 0, 0.5 * LEAST_SHARE])
