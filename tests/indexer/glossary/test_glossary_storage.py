"""A glossary file, and what is found in it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import IndexClosed, IndexDamaged, IndexNotWritten
from indexer.glossary.forms import Forms
from indexer.glossary.loanwords import SpeltWord
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, Match, tokens_number, write_glossary
from tests.counted_reads import CountedReads

GRAPH = Pair("그래프", "graph", ("그래프",), ("graph",), 9, ("bracket",))
KNOWLEDGE_GRAPH = Pair(
    "지식 그래프", "knowledge graph", ("지식", "그래프"), ("knowledg", "graph"), 3, ("bracket", "title")
)
KNOWLEDGE_NET = Pair(
    "지식 그래프", "knowledge network", ("지식", "그래프"), ("knowledg", "network"), 1, ("keywords",)
)
GRAPH_SEARCH = Pair("그래프 검색", "graph search", ("그래프", "검색"), ("graph", "search"), 1, ("keywords",))


def glossary(folder, *pairs):
    write_glossary(folder / "glossary.sqlite", pairs)
    return Glossary.open(folder / "glossary.sqlite")


def test_pairs_come_back_as_they_were_written(tmp_path):
    with glossary(tmp_path, GRAPH, KNOWLEDGE_GRAPH) as found:
        assert len(found) == 2
        assert list(found.pairs()) == [GRAPH, KNOWLEDGE_GRAPH]


def test_other_tokens_of_the_same_number_are_no_match(tmp_path):
    assert tokens_number(("plumless",)) == tokens_number(("buckeroo",))
    pair = Pair("씨 없는", "plumless", ("씨", "없"), ("plumless",), 1, ("bracket",))

    with glossary(tmp_path, pair) as found:
        assert found.translations(["buckeroo"]) == []
        assert found.translations(["plumless"]) == [Match(pair, 0, 1, "ko")]


def test_korean_is_translated_into_english_and_the_reverse(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH) as found:
        assert found.translations(["큰", "지식", "그래프"]) == [Match(KNOWLEDGE_GRAPH, 1, 3, "en")]
        assert found.translations(["knowledg", "graph", "now"]) == [Match(KNOWLEDGE_GRAPH, 0, 2, "ko")]


def test_the_corpus_s_words_are_found_by_their_first_letter(tmp_path):
    words = [SpeltWord("K", "gram", "gram", "gram", 3), SpeltWord("N", "naif", "naïve", "naïv", 1)]
    words += [SpeltWord("S", "soo", "zoo", "zoo", 2), SpeltWord("N", "not", "noz", "noz", 2)]
    write_glossary(tmp_path / "g", [], Forms(words=tuple(words)))

    with Glossary.open(tmp_path / "g") as found:
        assert sorted(found.words_starting_with("n").words) == ["naïve", "noz"]
        assert found.words_starting_with("g") == (("gram",), ("gram",), (3,))
        assert found.words_starting_with("x") == ((), (), ())


def test_tokens_that_do_not_stand_together_are_no_match(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH) as found:
        assert found.translations(["지식", "의", "그래프"]) == []
        assert found.translations(["지식"]) == []
        assert found.translations([]) == []


def test_a_longer_match_that_no_passage_holds_hides_no_shorter_one(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH, GRAPH) as found:
        matches = found.translations(["지식", "그래프"], is_held=lambda tokens: "knowledg" not in tokens)

    assert matches == [Match(GRAPH, 1, 2, "en")]


def test_a_general_pair_that_only_joins_the_counterparts_of_its_words_is_left_out(tmp_path):
    nurse = Pair("간호사", "nurse", ("간호", "사"), ("nurs",), 0, ("general",))
    burnout = Pair("소진", "burnout", ("소진",), ("burnout",), 2, ("bracket",))
    joined = Pair(
        "간호사 소진", "nurse burnout", ("간호", "사", "소진"), ("nurs", "burnout"), 0, ("general",)
    )

    with glossary(tmp_path, nurse, burnout, joined) as found:
        assert found.translations(["nurs", "burnout"]) == [
            Match(nurse, 0, 1, "ko"),
            Match(burnout, 1, 2, "ko"),
        ]
    with glossary(tmp_path, nurse, joined) as found:
        assert found.translations(["nurs", "burnout"]) == [Match(joined, 0, 2, "ko")]


def test_a_shorter_match_within_a_longer_is_left_out(tmp_path):
    with glossary(tmp_path, GRAPH, KNOWLEDGE_GRAPH) as found:
        assert found.translations(["지식", "그래프"]) == [Match(KNOWLEDGE_GRAPH, 0, 2, "en")]


def test_the_same_term_elsewhere_stays(tmp_path):
    with glossary(tmp_path, GRAPH, KNOWLEDGE_GRAPH) as found:
        assert found.translations(["그래프", "지식", "그래프"]) == [
            Match(KNOWLEDGE_GRAPH, 1, 3, "en"),
            Match(GRAPH, 0, 1, "en"),
        ]


def test_all_translations_of_a_term_are_given_in_the_order_written(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH, KNOWLEDGE_NET) as found:
        assert found.translations(["지식", "그래프"]) == [
            Match(KNOWLEDGE_GRAPH, 0, 2, "en"),
            Match(KNOWLEDGE_NET, 0, 2, "en"),
        ]


def test_matches_of_one_length_may_overlap(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH, GRAPH_SEARCH) as found:
        assert found.translations(["지식", "그래프", "검색"]) == [
            Match(KNOWLEDGE_GRAPH, 0, 2, "en"),
            Match(GRAPH_SEARCH, 1, 3, "en"),
        ]


def test_a_longer_match_of_the_other_side_hides_nothing(tmp_path):
    mixed = Pair("graph 이론", "network theory", ("graph", "이론"), ("network", "theori"), 1, ("bracket",))
    with glossary(tmp_path, GRAPH, mixed) as found:
        assert found.translations(["graph", "이론"]) == [Match(mixed, 0, 2, "en"), Match(GRAPH, 0, 1, "ko")]


def of_source(pair, source, target=None):
    return replace(pair, count=0, sources=(source,), target=target)


def test_the_users_pairs_go_before_the_mined_and_these_before_the_general(tmp_path):
    users = of_source(replace(GRAPH, english="chart", english_tokens=("chart",)), "user")
    general = of_source(replace(KNOWLEDGE_GRAPH, korean="지식", korean_tokens=("지식",)), "general")
    with glossary(tmp_path, users, GRAPH, of_source(GRAPH, "general"), general) as found:
        assert found.translations(["그래프"]) == [Match(users, 0, 1, "en")]
        assert found.translations(["graph"]) == [Match(GRAPH, 0, 1, "ko")]
        assert found.translations(["지식"]) == [Match(general, 0, 1, "en")]


def test_a_general_pair_adds_what_is_not_covered_and_hides_nothing(tmp_path):
    general = of_source(KNOWLEDGE_GRAPH, "general")
    with glossary(tmp_path, GRAPH, general) as found:
        assert found.translations(["지식", "그래프"]) == [
            Match(general, 0, 2, "en"),
            Match(GRAPH, 1, 2, "en"),
        ]


def test_what_shorter_mined_pairs_cover_is_not_looked_up_among_the_general(tmp_path):
    knowledge = Pair("지식", "knowledge", ("지식",), ("knowledg",), 1, ("keywords",))
    with glossary(tmp_path, GRAPH, knowledge, of_source(KNOWLEDGE_GRAPH, "general")) as found:
        assert [match.pair for match in found.translations(["지식", "그래프"])] == [knowledge, GRAPH]


def test_a_pair_can_be_looked_up_from_one_side_only(tmp_path):
    with glossary(tmp_path, of_source(GRAPH, "user", "ko")) as found:
        assert found.translations(["그래프"]) == []
        assert [match.pair.target for match in found.translations(["graph"])] == ["ko"]


MONOXIDE = Pair("일산화탄소", "CO", ("일산화탄소",), ("co",), 1, ("bracket",))
ENRICHMENT = Pair(
    "이산화탄소 시비", "CO2 enrichment", ("이산화탄소", "시비"), ("co", "2", "enrich"), 1, ("keywords",)
)


def test_a_term_of_several_tokens_is_not_looked_up_by_a_part(tmp_path):
    with glossary(tmp_path, MONOXIDE, ENRICHMENT) as found:
        assert found.translations(["co", "2", "level"], units=[(0, 1)]) == []
        assert found.translations(["co", "2", "enrich"], units=[(0, 1)]) == [Match(ENRICHMENT, 0, 3, "ko")]
        assert found.translations(["co", "2", "level"]) == [Match(MONOXIDE, 0, 1, "ko")]


def test_many_terms_of_several_tokens_are_read_once_each(tmp_path):
    units = CountedReads((place, place + 1) for place in range(0, 1_000, 2))
    with glossary(tmp_path, MONOXIDE, ENRICHMENT) as found:
        assert found.translations(["co", "2"] * 500, units) == []
    assert units.reads == 500


def test_a_missing_file_is_no_empty_glossary(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.sqlite"):
        Glossary.open(tmp_path / "none.sqlite")


def test_a_closed_glossary_is_not_damaged(tmp_path):
    found = glossary(tmp_path, GRAPH)
    found.close()
    with pytest.raises(IndexClosed, match=r"glossary\.sqlite is closed; open the index again"):
        found.translations(["지식"])


def test_writing_replaces_what_was_there_and_leaves_nothing_else(tmp_path):
    glossary(tmp_path, GRAPH).close()
    with glossary(tmp_path, KNOWLEDGE_GRAPH) as found:
        assert list(found.pairs()) == [KNOWLEDGE_GRAPH]
    assert [path.name for path in tmp_path.iterdir()] == ["glossary.sqlite"]


def test_two_writings_of_the_same_pairs_are_the_same_bytes(tmp_path):
    write_glossary(tmp_path / "one", [GRAPH, KNOWLEDGE_GRAPH])
    write_glossary(tmp_path / "two", [GRAPH, KNOWLEDGE_GRAPH])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(IndexNotWritten, match="glossary"):
        write_glossary(tmp_path / "none" / "glossary.sqlite", [GRAPH])


def test_a_file_that_is_no_glossary_is_told(tmp_path):
    (tmp_path / "glossary.sqlite").write_text("not a database, but long enough to be one" * 100)
    with pytest.raises(IndexDamaged, match="build it again, or roll back to the previous version"):
        Glossary.open(tmp_path / "glossary.sqlite")


def test_a_name_with_signs_that_mean_something_in_addresses(tmp_path):
    path = tmp_path / "a?b#c%20 d"
    write_glossary(path, [GRAPH])
    with Glossary.open(path) as found:
        assert len(found) == 1


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=20))
def test_any_tokens_can_be_asked(tmp_path_factory, tokens):
    with glossary(tmp_path_factory.mktemp("glossary"), GRAPH, KNOWLEDGE_GRAPH) as found:
        for match in found.translations(tokens):
            assert tuple(tokens[match.start : match.end]) in {
                match.pair.korean_tokens,
                match.pair.english_tokens,
            }
