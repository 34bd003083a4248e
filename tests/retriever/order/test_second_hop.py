"""Names that lead from one passage to another, on tokens written out by hand."""

import math

import pytest

from retriever.order.concepts import Concept, Counterpart, Word
from retriever.order.second_hop import find_bridges, leading_on, with_gains
from retriever.queries import searched_tokens
from tests.retriever.order.by_hand import FOUR_LONG, candidate, held_by, question, scored

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of what 10 of 100 passages hold
RARE = math.log(1 + 98.5 / 2.5)  # of what 2 hold
STATISTICS = held_by(marta=10, quillon=2, basel=10, bern=10, born=10, rome=10, silberberg=2, unknown=0)
ASKED = question("where was the founder of silberberg born", names=["silberberg"])


def concept(token, importance=1.0, *counterparts):
    others = tuple(Counterpart((other,), 1.0, importance) for other in counterparts)
    return Concept(token, (Word({token: 1.0}, importance),), others)


CONCEPTS = [concept("founder"), concept("silberberg", 2.0), concept("born", 1.0, "태어났")]


def leading(*texts, asked=ASKED, concepts=CONCEPTS):
    """Return the places of the passages that lead on."""
    ranked = [scored(candidate(text, passage_id=str(place))) for place, text in enumerate(texts)]
    return [int(one.candidate.passage_id) for one, _ in leading_on(asked, concepts, ranked)]


def test_a_passage_that_holds_the_name_and_leaves_a_part_uncovered_leads_on():
    [(found, uncovered)] = leading_on(ASKED, CONCEPTS, [scored(candidate("silberberg founder"))])

    assert found.candidate.passage_id == "P"
    assert uncovered == {"born": 1.0}


def test_a_question_without_a_name_leads_nowhere():
    assert leading("silberberg founder", asked=question("founder of silberberg born")) == []


def test_a_passage_without_the_name_leads_nowhere():
    assert leading("founder", "silberberg founder") == [1]


def test_of_a_name_all_tokens_must_be_there():
    asked = question("founder of silberberg basel born", names=["silberberg basel"])

    assert leading("silberberg founder", "basel silberberg", asked=asked) == [1]


@pytest.mark.parametrize("text", ["silberberg founder born", "silberberg founder 태어났"])
def test_a_passage_that_covers_the_question_leads_nowhere(text):
    assert leading(text) == []


def test_what_is_left_must_be_a_good_part_of_the_question():
    most = [concept("silberberg", 8.4), concept("born", 1.6)]

    assert leading("silberberg", concepts=most) == [0]
    assert leading("silberberg", concepts=[concept("silberberg", 8.6), concept("born", 1.4)]) == []


def test_two_of_the_first_five_passages_lead_on():
    assert leading(*["silberberg"] * 3) == [0, 1]
    assert leading(*["other"] * 4, "silberberg") == [4]
    assert leading(*["other"] * 5, "silberberg") == []


def sources(*passages):
    """Give passages that lead on, of falling scores."""
    return [
        (scored(candidate(text, text, f"P{place}"), 1 / (place + 1)), {"born": 1.0})
        for place, text in enumerate(passages)
    ]


def hop(*named, asked=ASKED, texts=None, best=1.0):
    """Find the bridges among the names of each passage."""
    leads = sources(*(texts or [" ".join(names) for names in named]))
    ranked = [scored(candidate("x", passage_id="BEST"), best)]
    names = [{tuple(name.lower().split()): name for name in of} for of in named]
    return find_bridges(asked, ranked, leads, names, STATISTICS)


def bridges(*named, **more):
    return [bridge.text for bridge in hop(*named, **more).bridges]


def test_the_rarest_names_come_first_by_the_strength_of_their_passage():
    assert bridges(["Basel", "Marta Quillon", "Quillon"]) == ["Marta Quillon", "Quillon", "Basel"]
    # Half the score: Quillon's 3.7 counts 1.8, less than Basel's 2.3.
    assert bridges(["Basel"], ["Quillon"]) == ["Basel", "Quillon"]


def test_a_name_in_two_passages_comes_from_the_stronger():
    [bridge] = hop(["Basel"], ["Basel"]).bridges

    assert (bridge.passage_id, bridge.strength) == ("P0", 1.0)


def test_names_of_equal_rarity_come_by_their_tokens():
    assert bridges(["Rome", "Bern", "Basel"]) == ["Basel", "Bern", "Rome"]


def test_a_name_of_the_questions_words_is_no_bridge():
    assert hop(["Silberberg", "Founder of Silberberg"]) is None
    assert bridges(["Silberberg Basel"]) == ["Silberberg Basel"]


@pytest.mark.parametrize("named", [[], [[]], [["Unknown"]]])
def test_without_a_name_that_passages_hold_there_is_no_second_search(named):
    assert hop(*named) is None


def test_without_a_score_there_is_no_second_search():
    assert hop(["Basel"], best=0.0) is None


def test_ten_bridges_are_followed():
    assert len(bridges([f"Basel {number}" for number in range(15)])) == 10


def test_the_second_search_asks_for_bridges_and_more_for_what_is_left():
    asked = searched_tokens(hop(["Marta Quillon"]).query(0.0).query)

    assert asked == {"marta": 0.5, "quillon": 0.5, "born": 1.0}


NAMED = "silberberg founder marta quillon"


def parts(passage, *names, text=NAMED):
    """Return what a candidate gains where the best passage holds the names."""
    [gained] = with_gains(hop(names, texts=[text]), ASKED, [scored(passage)], FOUR_LONG, STATISTICS)
    return {name: value for name, (value, _) in gained.parts.items() if name != "base"}


def test_a_passage_whose_title_stands_in_one_that_leads_on_gains():
    # A quarter, for it holds nothing of what is left.
    assert parts(candidate("a b c d", "Marta Quillon"), "Marta Quillon") == {"title in passage": 0.25}


def test_it_gains_the_more_of_what_is_left_it_holds():
    passage = candidate("born a b c", "Marta Quillon")

    assert parts(passage, "Marta Quillon") == {"title in passage": 1.0}


def test_the_gains_can_be_weighed_less():
    passage = scored(candidate("born a b c", "Marta Quillon"))

    whole, quarter = (
        with_gains(hop(["Marta Quillon"], texts=[NAMED]), ASKED, [passage], FOUR_LONG, STATISTICS, weight)[0]
        for weight in (1.0, 0.25)
    )

    assert quarter.score - passage.score == pytest.approx((whole.score - passage.score) / 4)
    assert quarter.score > passage.score


def test_what_tells_a_title_from_others_of_the_name_need_not_stand_there():
    assert parts(candidate("a b c d", "Quillon (astronomer)"), "Quillon") == {"title in passage": 0.25}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Marta Basel", NAMED),  # another's name
        ("Quillon Marta", NAMED),  # in another order
        ("Marta Quillon", "marta _3 quillon"),  # too far apart
        ("Silberberg", NAMED),  # the question names it
        ("", NAMED),
    ],
)
def test_another_title_brings_nothing(title, text):
    assert parts(candidate("a b c d", title), "Marta Quillon", "Silberberg", text=text) == {}


def test_a_title_that_is_longer_than_any_name_is_none():
    passage = candidate("a b c d", "Marta Quillon" + " (" * 200_000)

    assert parts(passage, "Marta Quillon") == {}


def test_a_title_within_two_dropped_words_is_named():
    assert "title in passage" in parts(
        candidate("a", "Marta Quillon"), "Marta Quillon", text="marta _2 quillon"
    )


def test_a_passage_that_holds_a_bridge_gains_by_its_share():
    # As long as the average, it scores the idf of what it holds, of all that the bridge has.
    whole, half = (parts(candidate(text), "Marta Quillon") for text in ("marta quillon a b", "marta a b c"))

    assert whole == {"bridge": pytest.approx(0.25)}
    assert half == {"bridge": pytest.approx(0.25 * TENTH / (TENTH + RARE))}


def test_the_passage_that_names_the_bridge_gains_nothing_by_it():
    assert parts(candidate(NAMED, "Marta Quillon", "P0"), "Marta Quillon") == {}
