"""Words instead of stems: what a search sent after its plan, as passages write it."""

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.packing import PassageTokens
from indexer.files.schema import StoredPassage
from retriever.searching.surface_words import surface_words
from tests.retriever.made_papers import found, index_of
from tests.retriever.order.test_order import ENGLISH, HOPS, papers

ANALYZER = make_analyzer("bilingual")


def stored(text, title=""):
    tokens = PassageTokens.of(title, text, "", ANALYZER.analyze)
    return StoredPassage("P", "P", title, text, "en", "abstract", tokens=tokens)


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (["Villages of the north"], "Villages"),
        (["Villages", "many villages", "a village"], "villages"),  # in small letters rather
        (["VILLAGES", "Village"], "VILLAGES"),
        (["no such word"], None),
    ],
)
def test_a_token_is_written_as_the_first_passage_does_preferably_in_small_letters(texts, word):
    assert surface_words(map(stored, texts), {"villag"}).get("villag") == word


def test_titles_are_read_and_decomposed_text_is_composed():
    nfd = "\u1112\u1162\u1111\u1161\u1105\u1175"

    assert surface_words([stored("", f"{nfd}의 villages")], {"해파리", "villag"}) == {
        "해파리": "해파리",
        "villag": "villages",
    }


def test_a_passage_without_tokens_has_no_words():
    passage = StoredPassage("P", "P", "", "villages", "en", "abstract")

    assert surface_words([passage], {"villag"}) == {}


def test_a_later_search_is_described_in_the_words_of_its_passages(tmp_path):
    with index_of(tmp_path, *papers(HOPS[ENGLISH])) as index:
        result = found(index, ENGLISH)

    described = {query.name: query.query for query in result.queries}
    assert described["bridges"] == "Marta Quillon OR profession"
    assert set(described["feedback"].split(" OR ")) == {"Marta", "Quillon"}
    assert [(bridge.text, bridge.passage_id) for bridge in result.bridges] == [("Marta Quillon", "NAMED")]
    assert "also searched for Marta Quillon, named in NAMED" in result.notes


def test_all_terms_are_in_the_query(tmp_path):
    words = [f"term{letter}{other}" for letter in "abcde" for other in "abcd"]
    texts = [{"id": f"P{number}", "abstract": f"quokka {' '.join(words)}"} for number in range(2)]
    others = [{"id": f"F{number}", "abstract": f"plain words {number}"} for number in range(20)]
    with index_of(tmp_path, *texts, *others) as index:
        [feedback] = [query for query in found(index, "quokka").queries if query.name == "feedback"]

    assert set(feedback.query.split(" OR ")) == {"quokka", *words}
