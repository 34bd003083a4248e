"""The analyzers beside the tokens that a real Elasticsearch made of the same texts."""

import gzip
import json

import pytest

from eval.development.tokens import compare_with_recorded
from indexer.analysis import make_analyzer

NAMES = [
    *(f"{analyzer}-{mode}" for analyzer in ("bilingual", "korean") for mode in ("discard", "mixed", "none")),
    "english",
]


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_of_elasticsearch(shared_golden, name):
    found = compare_with_recorded(shared_golden / f"analysis-{name}.jsonl.gz")

    assert found.f1 >= (0.999 if name == "english" else 0.998)
    assert found.share(found.same_offsets) >= 0.999
    assert found.share(found.same_increments) >= 0.999


@pytest.mark.parametrize("name", NAMES)
def test_tokens_with_parts_of_speech_are_the_same_tokens(shared_golden, name):
    analyzer = make_analyzer(*name.split("-"))
    with gzip.open(shared_golden / f"analysis-{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]

    for text in texts:
        assert [token for token, _ in analyzer.tagged_tokens(text)] == analyzer.analyze(text)
