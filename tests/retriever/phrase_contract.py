"""What every engine makes of a phrase; see `engine_contract`."""

import math

import pytest

from retriever.queries.boolean import Phrase
from retriever.queries.filters import Filters
from tests.retriever.made_papers import indexed

TEXTS = {
    "A": "state of the art methods",
    "B": "state art methods",
    "C": "art of the state, methods",
    "D": "methods that state the new art and then state of the art",
    "E": "gamma beta alpha",
    "F": "alpha beta gamma",
    "G": "alpha x beta y gamma",
    "H": "alpha alpha beta",
    "I": "alpha beta alpha beta",
    "J": "alpha x x alpha",
    "K": "alpha alpha alpha",
    "L": "beta x x x alpha",
}


@pytest.fixture(scope="module")
def phrases(tmp_path_factory, settings_for):
    records = [{"id": name, "title": "Titled", "abstract": text} for name, text in TEXTS.items()]
    with indexed(settings_for(tmp_path_factory.mktemp("phrases")), records, "phrases") as index:
        yield index.engine


def phrase(*tokens, slop=0, weight=1.0, field="text"):
    """Make a phrase; None is a gap."""
    placed = tuple((position, token) for position, token in enumerate(tokens) if token)
    return Phrase(" ".join(token for _, token in placed), placed, field, weight, slop)


def scores(engine, query):
    [found] = engine.search([(query, 20)], filters=Filters(), collapse=False)
    return {hit.passage_id: hit.score for hit in found}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (phrase("alpha", "beta"), "FHI"),
        (phrase("beta", "alpha"), "EI"),
        (phrase("alpha", "beta", "gamma"), "F"),
        (phrase("state", "art"), "B"),
        (phrase("state", None, None, "art"), "AD"),
        (phrase("state", None, "art"), ""),
        (phrase("state", None, None, "art", "method"), "A"),
        (phrase("alpha", "alpha"), "HK"),
        (phrase("alpha", "alpha", "alpha"), "K"),
        (phrase("alpha", None, None, "alpha"), "J"),
        (phrase("alpha", "missing"), ""),
        (phrase("titl", "state"), "AB"),
        (phrase("titl", "state", field="title"), ""),
        (phrase("titl", field="title"), "ABCDEFGHIJKL"),
    ],
)
def test_a_phrase_is_found_where_its_words_stand_so(phrases, query, found):
    assert "".join(sorted(scores(phrases, query))) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (phrase("alpha", "beta", slop=1), "FGHI"),
        (phrase("alpha", "beta", slop=2), "EFGHI"),
        (phrase("alpha", "beta", "gamma", slop=1), "F"),
        (phrase("alpha", "beta", "gamma", slop=2), "FG"),
        (phrase("state", "art", slop=1), "B"),
        (phrase("state", "art", slop=2), "ABD"),
    ],
)
def test_a_loose_phrase_is_found_where_words_are_moved_or_stand_between(phrases, query, found):
    assert "".join(sorted(scores(phrases, query))) == found


def test_a_phrase_scores_the_idf_of_all_of_its_tokens(phrases):
    """Of 12 passages 8 hold alpha, 6 beta; the text of F has 4 words, all texts 57, on average 4.75."""
    found = scores(phrases, phrase("alpha", "beta"))
    repeated = scores(phrases, phrase("alpha", "alpha"))

    idf = math.log(1 + (12 - 8 + 0.5) / (8 + 0.5)), math.log(1 + (12 - 6 + 0.5) / (6 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 4 / 4.75)
    assert found["F"] == pytest.approx(2.2 * sum(idf) / (1 + norm), abs=2e-4)
    assert repeated["H"] == pytest.approx(2.2 * 2 * idf[0] / (1 + norm), abs=2e-4)
