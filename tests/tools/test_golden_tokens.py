"""The analyzers compared with the tokens that a real Elasticsearch made of the same texts."""

import pytest

from tools.tokens import compare_with_recorded

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
