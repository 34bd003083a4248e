import pytest

from tools.tokens import compare_texts, compare_with_recorded


class Fixed:
    name = "fixed"
    decompound = "discard"

    def __init__(self, tokens):
        self.tokens = tokens

    def analyze(self, text):
        return self.tokens

    def tagged_tokens(self, text):
        return [(token, "") for token in self.tokens]

    def tagged_words(self, text):
        return []


def compared(recorded, ours):
    return compare_texts("fixed", Fixed(ours), [{"source": "s", "text": "one two three", "tokens": recorded}])


def test_f1_is_twice_the_matching_tokens_by_those_of_both_sides():
    found = compared(
        [["one", 0, 0, 3], ["two", 1, 4, 7], ["three", 2, 8, 13]], [("one", 0, 0, 3), ("three", 2, 8, 13)]
    )

    assert found.row()["f1"] == 2 * 2 / (3 + 2)


def test_offsets_positions_and_increments_are_shares_of_the_matching_tokens():
    # two is missed: three keeps its position, but stands two after the token before it instead of one.
    found = compared(
        [["one", 0, 0, 3], ["two", 1, 4, 7], ["three", 2, 8, 13]], [("one", 0, 0, 2), ("three", 2, 8, 13)]
    )

    assert found.row()["offsets"] == 1 / 2
    assert found.row()["positions"] == 1.0
    assert found.row()["increments"] == 1 / 2


def test_a_difference_is_shown_in_its_context():
    (difference,) = compared([["one", 0, 0, 3], ["two", 1, 4, 7]], [("one", 0, 0, 3)]).differences

    assert difference.split("\n") == ["s: one ⟦two⟧ three", "    recorded two@4-7:1", "    here     –"]


NAMES = [
    *(f"{analyzer}-{mode}" for analyzer in ("bilingual", "korean") for mode in ("discard", "mixed", "none")),
    "english",
]


@pytest.mark.parametrize("name", NAMES)
def test_tokens_agree_with_those_of_elasticsearch(shared_golden, name):
    found = compare_with_recorded(shared_golden / f"analysis-{name}.jsonl.gz").row()

    assert found["f1"] >= (0.999 if name == "english" else 0.99)
    assert found["offsets"] >= 0.999
    assert found["increments"] >= 0.999
