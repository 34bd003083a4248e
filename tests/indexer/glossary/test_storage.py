"""Glossary files, lookup by the tokens of either side, and loanwords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.errors import IndexClosed, IndexDamaged, IndexNotWritten
from indexer.glossary.loanwords import spelt_words
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, Match, write_glossary
from tests.counted_reads import CountedReads
from tests.refusals import ANEW_OR_BACK, refusal


def pair(korean, english, source="bracket", target=None, count=1):
    return Pair(korean, english, tuple(korean.split()), tuple(english.split()), count, (source,), target)


GRAPH, NET = pair("그래프", "graph", count=9), pair("지식 그래프", "knowledg network")
KNOWLEDGE_GRAPH, SEARCH = pair("지식 그래프", "knowledg graph"), pair("그래프 검색", "graph search")
MIXED = pair("graph 이론", "network theori")
USERS, GENERAL = pair("그래프", "chart", "user"), pair("지식 그래프", "knowledg graph", "general")
SHORT_GENERAL, KNOWLEDGE = pair("지식", "knowledg", "general"), pair("지식", "knowledg")
FROM_ENGLISH = pair("그래프", "graph", "user", "ko")
MONOXIDE, ENRICHMENT = pair("일산화탄소", "co"), pair("이산화탄소 시비", "co 2 enrich")


def glossary(folder, *pairs):
    write_glossary(folder / "glossary.sqlite", pairs)
    return Glossary(folder / "glossary.sqlite")


@pytest.mark.parametrize(
    ("pairs", "tokens", "found"),
    [
        ([KNOWLEDGE_GRAPH], "큰 지식 그래프", [Match(KNOWLEDGE_GRAPH, 1, 3, "en")]),
        ([KNOWLEDGE_GRAPH], "knowledg graph now", [Match(KNOWLEDGE_GRAPH, 0, 2, "ko")]),
        ([KNOWLEDGE_GRAPH], "지식 의 그래프", []),
        ([KNOWLEDGE_GRAPH], "지식", []),
        ([KNOWLEDGE_GRAPH], "", []),
        # The longest match hides shorter ones in the same language, but not elsewhere.
        ([GRAPH, KNOWLEDGE_GRAPH], "지식 그래프", [Match(KNOWLEDGE_GRAPH, 0, 2, "en")]),
        (
            [GRAPH, KNOWLEDGE_GRAPH],
            "그래프 지식 그래프",
            [Match(KNOWLEDGE_GRAPH, 1, 3, "en"), Match(GRAPH, 0, 1, "en")],
        ),
        ([GRAPH, MIXED], "graph 이론", [Match(MIXED, 0, 2, "en"), Match(GRAPH, 0, 1, "ko")]),
        # Matches of one span, and overlapping ones of one length, are all returned.
        ([KNOWLEDGE_GRAPH, NET], "지식 그래프", [Match(KNOWLEDGE_GRAPH, 0, 2, "en"), Match(NET, 0, 2, "en")]),
        (
            [KNOWLEDGE_GRAPH, SEARCH],
            "지식 그래프 검색",
            [Match(KNOWLEDGE_GRAPH, 0, 2, "en"), Match(SEARCH, 1, 3, "en")],
        ),
        # The user's pairs precede mined ones, and these general ones.
        ([USERS, GRAPH, SHORT_GENERAL], "그래프", [Match(USERS, 0, 1, "en")]),
        ([USERS, GRAPH, SHORT_GENERAL], "graph", [Match(GRAPH, 0, 1, "ko")]),
        ([USERS, GRAPH, SHORT_GENERAL], "지식", [Match(SHORT_GENERAL, 0, 1, "en")]),
        ([GRAPH, GENERAL], "지식 그래프", [Match(GENERAL, 0, 2, "en"), Match(GRAPH, 1, 2, "en")]),
        (
            [GRAPH, KNOWLEDGE, GENERAL],
            "지식 그래프",
            [Match(KNOWLEDGE, 0, 1, "en"), Match(GRAPH, 1, 2, "en")],
        ),
        # A pair may be looked up from one side only.
        ([FROM_ENGLISH], "그래프", []),
        ([FROM_ENGLISH], "graph", [Match(FROM_ENGLISH, 0, 1, "ko")]),
    ],
)
def test_pairs_are_looked_up_by_tokens(tmp_path, pairs, tokens, found):
    with glossary(tmp_path, *pairs) as opened:
        assert opened.translations(tokens.split()) == found


def test_a_longer_match_in_no_passage_hides_no_shorter_one(tmp_path):
    with glossary(tmp_path, KNOWLEDGE_GRAPH, GRAPH) as found:
        matches = found.translations(["지식", "그래프"], is_held=lambda tokens: "knowledg" not in tokens)
    assert matches == [Match(GRAPH, 1, 2, "en")]


def test_a_term_of_several_tokens_is_not_looked_up_by_a_part(tmp_path):
    units = CountedReads((place, place + 1) for place in range(0, 1_000, 2))
    with glossary(tmp_path, MONOXIDE, ENRICHMENT) as found:
        assert found.translations(["co", "2", "level"], units=[(0, 1)]) == []
        assert found.translations(["co", "2", "enrich"], units=[(0, 1)]) == [Match(ENRICHMENT, 0, 3, "ko")]
        assert found.translations(["co", "2", "level"]) == [Match(MONOXIDE, 0, 1, "ko")]
        assert found.translations(["co", "2"] * 500, units) == []
    assert units.reads == 500


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=20))
def test_any_tokens_can_be_looked_up(tmp_path_factory, tokens):
    with glossary(tmp_path_factory.mktemp("glossary"), GRAPH, KNOWLEDGE_GRAPH) as found:
        for match in found.translations(tokens):
            sides = match.pair.korean_tokens, match.pair.english_tokens
            assert tuple(tokens[match.start : match.end]) in sides


def test_missing_damaged_closed_and_unwritable_files_are_errors(tmp_path):
    path = tmp_path / "glossary.sqlite"
    with pytest.raises(FileNotFoundError, match=r"glossary\.sqlite"):
        Glossary(path)
    path.write_text("not a database, but long enough to be one" * 100)
    with refusal(IndexDamaged, "glossary.sqlite", remedies=ANEW_OR_BACK):
        Glossary(path)
    found = glossary(tmp_path, GRAPH)
    found.close()
    with pytest.raises(IndexClosed, match=r"glossary\.sqlite"):
        found.translations(["지식"])
    with pytest.raises(IndexNotWritten, match="glossary"):
        write_glossary(tmp_path / "none" / "glossary.sqlite", [GRAPH])


BILINGUAL = make_analyzer("bilingual")
VOCABULARY = """
    lithium battery polymer polymerization algorithm scheduling schedule simulation transformer lateral litter
    letter better butter buttery palm primer logarithm skeletal assimilation iron social none citizen energy
    theory method analysis model language learning system surface material yoga center water aerogel
""".split()


@pytest.fixture(scope="module")
def spelt(tmp_path_factory):
    path = tmp_path_factory.mktemp("loanwords") / "glossary.sqlite"
    words = tuple(spelt_words([(word, 5) for word in VOCABULARY], BILINGUAL))
    write_glossary(path, [], words=words)
    with Glossary(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("리튬", "lithium"),
        ("폴리머", "polymer"),
        ("알고리즘", "algorithm"),
        ("스케줄링", "scheduling"),
        ("시뮬레이션", "simulation"),
        ("트랜스포머", "transformer"),
        ("시스템", "system"),
        ("에어로겔", "aerogel"),
        ("에어로젤", "aerogel"),
    ],
)
def test_a_loanword_is_found_with_the_token_of_the_index(spelt, korean, english):
    found = spelt.loanword(korean)
    assert (found.word, found.token) == (english, BILINGUAL.analyze(english)[0][0])


@pytest.mark.parametrize(
    "korean", "이론 소설 노인 시민 여가 논문 환자 교육 연구 상태 생태 사과 언어학 뿌리 값".split()
)
def test_a_korean_noun_that_sounds_like_an_english_word_is_none(spelt, korean):
    assert spelt.loanword(korean) is None
