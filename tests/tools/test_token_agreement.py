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


ONE, TWO, THREE = ("one", 0, 0, 3), ("two", 1, 4, 7), ("three", 2, 8, 13)


def compared(recorded, ours):
    return compare_texts("fixed", Fixed(ours), [{"source": "s", "text": "one two three", "tokens": recorded}])


def test_f1_and_shares_of_the_matching_tokens():
    # two is missing: three keeps its position, but is two after the token before it instead of one.
    row = compared([ONE, TWO, THREE], [("one", 0, 0, 2), THREE]).row
    assert row["f1"] == 2 * 2 / (3 + 2)
    assert (row["offsets"], row["positions"], row["increments"]) == (1 / 2, 1.0, 1 / 2)


def test_a_difference_is_shown_in_its_context():
    missing = compared([ONE, TWO], [ONE]).differences
    assert missing == ["s: one ⟦two⟧ three\n    recorded two@4-7:1\n    here     –"]
    [moved] = compared([ONE, TWO], [ONE, ("two", 1, 4, 8)]).differences
    assert moved.endswith("    recorded two@4-7:1\n    here     two@4-8:1")


NAMES = [
    *(f"{analyzer}-{mode}" for analyzer in ("bilingual", "korean") for mode in ("discard", "mixed", "none")),
    "english",
]


@pytest.mark.parametrize("name", NAMES)
def test_tokens_agree_with_those_of_elasticsearch(shared_golden, name):
    found = compare_with_recorded(shared_golden / f"analysis-{name}.jsonl.gz").row

    assert found["f1"] >= (0.999 if name == "english" else 0.99)
    assert found["offsets"] >= 0.999
    assert found["increments"] >= 0.999
