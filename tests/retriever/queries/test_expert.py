import pytest

from indexer.analysis import make_analyzer
from retriever.errors import BadExpression
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Range, Term
from retriever.queries.expert import parse_expression

GRAPH = Term("graph", ("graph",))
SEARCH = Term("검색", ("검색",))
SURVEY = Term("survey", ("survei",))
CAT = Term("cat", ("cat",))
YEAR_2020 = Range(2020, 2020)


@pytest.fixture(scope="module")
def analyzer():
    return make_analyzer("bilingual")


@pytest.fixture(scope="module")
def parse(analyzer):
    return lambda expression: parse_expression(expression, analyzer)


def test_an_expression_of_everything(parse):
    assert parse('제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024') == And(
        (
            Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), "title"),
            Or((Term("retrieval", ("retriev",)), SEARCH)),
            Not(SURVEY),
            Range(2019, 2024),
        )
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("graph", GRAPH),
        ("graph 검색", Or((GRAPH, SEARCH))),
        ("graph OR 검색", Or((GRAPH, SEARCH))),
        ("graph | 검색", Or((GRAPH, SEARCH))),
        ("graph AND 검색", And((GRAPH, SEARCH))),
        ("graph && 검색", And((GRAPH, SEARCH))),
        ("graph AND 검색 OR cat", Or((And((GRAPH, SEARCH)), CAT))),
        ("cat OR graph AND 검색", Or((CAT, And((GRAPH, SEARCH))))),
        ("(cat OR graph) AND 검색", And((Or((CAT, GRAPH)), SEARCH))),
        ("（cat OR graph）AND 검색", And((Or((CAT, GRAPH)), SEARCH))),
        ("cat graph AND 검색", And((Or((CAT, GRAPH)), SEARCH))),
        ("cat OR graph 검색 AND survey", Or((CAT, And((Or((GRAPH, SEARCH)), SURVEY))))),
        ("((graph))", GRAPH),
        ("(cat graph) 검색", Or((CAT, GRAPH, SEARCH))),
        ("cat\nOR\tgraph", Or((CAT, GRAPH))),
    ],
)
def test_words_side_by_side_bind_before_and_and_that_before_or(parse, expression, expected):
    assert parse(expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["graph NOT survey", "graph AND NOT survey", "graph -survey", "graph !survey", "-survey graph",
     "graph AND (NOT survey)", "graph NOT (survey)", "graph NOT NOT NOT survey"],
)  # fmt: skip
def test_a_negation_is_written_in_many_ways(parse, expression):
    assert set(parse(expression).clauses) == {GRAPH, Not(SURVEY)}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("cat graph NOT survey", And((Or((CAT, GRAPH)), Not(SURVEY)))),
        ("cat OR graph NOT survey", And((Or((CAT, GRAPH)), Not(SURVEY)))),
        ("cat NOT survey OR graph", And((Or((CAT, GRAPH)), Not(SURVEY)))),
        ("cat AND NOT survey OR graph", Or((And((CAT, Not(SURVEY))), GRAPH))),
        ("cat OR (graph NOT survey)", Or((CAT, And((GRAPH, Not(SURVEY)))))),
        ("cat graph year:2020", And((Or((CAT, GRAPH)), YEAR_2020))),
        ("year:2020 cat graph", And((Or((CAT, GRAPH)), YEAR_2020))),
        ("cat OR graph year:2020", And((Or((CAT, GRAPH)), YEAR_2020))),
        ("cat OR year:2020", Or((CAT, YEAR_2020))),
        ("cat AND year:2020 OR graph", Or((And((CAT, YEAR_2020)), GRAPH))),
        ("(cat year:2020) graph", Or((And((CAT, YEAR_2020)), GRAPH))),
        ("cat (year:2020 OR lang:ko)", And((CAT, Or((YEAR_2020, Exact("lang", ("ko",))))))),
        ("year:2020 lang:en", And((YEAR_2020, Exact("lang", ("en",))))),
        ("year:2020 NOT lang:ko", And((YEAR_2020, Not(Exact("lang", ("ko",)))))),
        ("cat OR year:2020 NOT lang:ko", Or((CAT, And((YEAR_2020, Not(Exact("lang", ("ko",)))))))),
    ],
)
def test_a_filter_or_negation_beside_words_holds_for_its_brackets(parse, expression, expected):
    assert parse(expression) == expected


PHRASE = Phrase("지식 그래프", ((0, "지식"), (1, "그래프")))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"state of the art"', Phrase("state of the art", ((0, "state"), (3, "art")))),
        ('"the graph"', Phrase("the graph", ((0, "graph"),))),
        ('"AND"', None),
        ('"graph AND (cat"', Phrase("graph AND (cat", ((0, "graph"), (2, "cat")))),
        ("지식그래프", Phrase("지식그래프", ((0, "지식"), (1, "그래프")))),
        ("CRISPR-Cas9", Phrase("CRISPR-Cas9", ((0, "crispr"), (1, "ca"), (2, "9")))),
        ("state-of-the-art", Phrase("state-of-the-art", ((0, "state"), (3, "art")))),
        ("검색하는", Term("검색하는", ("검색",))),
        ("\u1100\u1165\u11b7\u1109\u1162\u11a8", Term("\u1100\u1165\u11b7\u1109\u1162\u11a8", ("검색",))),
    ],
)
def test_a_phrase_or_a_word_of_several_tokens_keeps_their_positions(parse, expression, expected):
    assert parse(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("graph^2", Term("graph", ("graph",), weight=2.0)),
        ("graph^.5", Term("graph", ("graph",), weight=0.5)),
        ('"지식 그래프"~3', Phrase("지식 그래프", PHRASE.tokens, slop=3)),
        ('"지식 그래프"~3^2', Phrase("지식 그래프", PHRASE.tokens, weight=2.0, slop=3)),
        ("지식그래프^2", Phrase("지식그래프", PHRASE.tokens, weight=2.0)),
        (
            "(graph^2 OR cat)^3",
            Or((Term("graph", ("graph",), weight=6.0), Term("cat", ("cat",), weight=3.0))),
        ),
        ("(graph year:2020)^3", And((Term("graph", ("graph",), weight=3.0), YEAR_2020))),
    ],
)
def test_weights_and_slop(parse, expression, expected):
    assert parse(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("title: graph cat", Or((Term("graph", ("graph",), "title"), CAT))),
        ("제목：graph", Term("graph", ("graph",), "title")),
        ("title:(graph cat)", Or((Term("graph", ("graph",), "title"), Term("cat", ("cat",), "title")))),
        ("title:(graph text:cat)", Or((Term("graph", ("graph",), "title"), CAT))),
        ("-title:graph cat", And((CAT, Not(Term("graph", ("graph",), "title"))))),
        ("title:CRISPR:Cas", Phrase("CRISPR:Cas", ((0, "crispr"), (1, "ca")), "title")),
        ("연도:2019", Range(2019, 2019)),
        ("발행년:2019-2024", Range(2019, 2024)),
        ("year: ..2024", Range(None, 2024)),
        ("year:(2019 2021)", Or((Range(2019, 2019), Range(2021, 2021)))),
        ("언어:한국어", Exact("lang", ("ko",))),
        ("lang:(ko OR English)", Or((Exact("lang", ("ko",)), Exact("lang", ("en",))))),
        ("학술지:정보관리학회지", Exact("journal", ("정보관리학회지",))),
        ('journal:"Nature: Methods"', Exact("journal", ("Nature: Methods",))),
        ("id:317339#6", Or((Exact("doc_id", ("317339#6",)), Exact("passage_id", ("317339#6",))))),
        ("passage_id:a:b^2", Exact("passage_id", ("a:b^2",))),
        ("part:body", Exact("part", ("body",))),
    ],
)
def test_fields(parse, expression, expected):
    assert parse(expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["", "  ", "the", "the of", "(the)", "the AND of", "the NOT graph", "the AND NOT graph", "♥", "-", "…"],
)
def test_nothing_is_left_of_stop_words_and_punctuation(parse, expression):
    assert parse(expression) is None


@pytest.mark.parametrize(
    ("expression", "position", "reason"),
    [
        ('graph "cat', 6, "this quote is never closed"),
        ("「지식 그래프", 0, "this quote is never closed"),
        ("지식」", 2, "this quote is closed but never opened"),
        ("(graph", 0, "this bracket is never closed"),
        ("graph)", 5, "this bracket is closed but never opened"),
        ("graph ()", 6, "there is nothing in these brackets"),
        ("graph AND", 6, "AND needs a word, a phrase or brackets on both sides"),
        ("OR graph", 0, "OR needs a word, a phrase or brackets on both sides"),
        ("(graph OR ) cat", 7, "OR needs a word, a phrase or brackets on both sides"),
        ("graph NOT", 6, "NOT needs a word, a phrase or brackets behind it"),
        ("title:", 0, "title: needs a word, a phrase or brackets behind it"),
        ("title:year:2020 title: year:2020", 16, "title: needs a word, a phrase or brackets behind it"),
        ("-graph", 0, "this only says what to leave out; say what to look for too: word NOT other"),
        ("NOT the", 0, "this only says what to leave out; say what to look for too: word NOT other"),
        ("graph OR NOT cat", 9, "a side of OR cannot only leave out; write: word NOT other"),
        ("graph^two", 5, "a weight is a number"),
        ("graph^1001", 5, "a weight is a number"),
        ('"graph cat"~', 11, "a phrase is loosened by a number"),
        ("retrieval~2", 9, "~ belongs after a phrase in quotes"),
        ("cat year:19", 9, "'19' is no year or range of years"),
        ("year:2024..2019", 5, "the years '2024..2019' run backwards; write 2019..2024"),
        ("year:2020^2", 5, "'2020^2' is no year"),
        ('year:"2020"^2', 5, "year only filters: no ^ and no ~ behind its value"),
        ("lang:fr", 5, "'fr' is no language"),
        ('journal:""', 8, "journal needs a value"),
        ("part:head", 5, "'head' is no part of a record; write abstract, abstract2, body, passage"),
        ("+(cat graph) dog", 0, "+ before brackets needs a + before every word beside them; or write AND"),
        ("cat \ud800", 4, "half of a surrogate pair"),
        ("(" * 51 + "cat" + ")" * 51, 50, "brackets stand more than 50 deep"),
    ],
)
def test_what_cannot_be_read_is_explained_with_its_place(parse, expression, position, reason):
    with pytest.raises(BadExpression) as caught:
        parse(expression)

    assert caught.value.reason.startswith(reason)
    assert (caught.value.expression, caught.value.position) == (expression, position)


@pytest.mark.parametrize(
    ("expression", "position", "shown"),
    [
        ("cat (dog", 4, "  cat (dog\n      ^"),
        ("제목:지식 AND", 6, "  제목:지식 AND\n            ^"),
        ("\u110c\u1166\u1106\u1169\u11a8 (", 6, "  \u110c\u1166\u1106\u1169\u11a8 (\n       ^"),
        ("e\u0301\n(", 3, "  e\u0301 (\n    ^"),
        ("「검색", 0, "  「검색\n  ^"),
        ("가" * 100 + "(" + "나" * 100, 100, f"  …{'가' * 60}({'나' * 39}…\n  {' ' * 121}^"),
    ],
)
def test_the_caret_stands_under_the_place_as_drawn(expression, position, shown):
    assert str(BadExpression("reason", expression, position)) == f"reason\n{shown}"
