"""Synonyms: their file, and what they add to what is asked, with every method."""

import pytest

from base.errors import InvalidCall
from indexer.analysis import make_analyzer
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.opening.synonyms import Rule, Synonyms, parse_synonyms
from retriever.queries.boolean import And, Or, Phrase, Term
from retriever.queries.expert import parse_expression
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import ids

BILINGUAL = make_analyzer("bilingual")
RULES = "딥러닝, 심층학습, deep learning\nLLM => 거대 모형\n"
PAPERS = [
    {"id": "KO", "title": "심층학습 연구", "abstract": "심층학습을 이용한 영상 분류를 다룬다."},
    {"id": "EN", "title": "A survey", "abstract": "Deep learning for images, a survey of networks."},
    {"id": "APART", "title": "Deep seas", "abstract": "Students learning of seas that are deep."},
    {"id": "OTHER", "title": "벼의 생육", "abstract": "논에 물을 대었다. 벼가 자랐다."},
    {"id": "LARGE", "title": "거대 모형", "abstract": "거대 모형의 답변을 평가하였다."},
]


def synonyms(text, analyzer=BILINGUAL):
    return Synonyms(parse_synonyms(text.encode(), "terms.txt"), analyzer, "terms.txt")


def expanded(expression, rules=RULES):
    return synonyms(rules).expanded(parse_expression(expression, BILINGUAL))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synonyms")
    build(folder, write_jsonl(folder / "papers.jsonl", PAPERS), "papers")
    (folder / "synonyms.txt").write_text(RULES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(home):
    with open_index(IndexerSettings(home=home), "papers", home / "synonyms.txt") as index:
        yield index


@pytest.fixture(scope="module")
def plain_index(home):
    with open_index(IndexerSettings(home=home), "papers") as index:
        yield index


def test_a_line_is_a_rule_of_equivalents_or_of_one_way():
    text = "\ufeff# ours\n\n딥러닝,  deep   learning # and\r\nKISTI,키스티=>정보연구원\n"

    assert parse_synonyms(text.encode(), "terms.txt") == [
        Rule(3, ("딥러닝", "deep learning"), ("딥러닝", "deep learning")),
        Rule(4, ("KISTI", "키스티"), ("정보연구원",)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("딥러닝", "terms.txt, line 1: only one term; write its equivalents behind it: 딥러닝, OTHER"),
        ("\n딥러닝,,심층학습", "line 2: a term is missing beside a comma or an arrow"),
        ("딥러닝 =>", "line 1: a term is missing"),
        ("가 => 나 => 다", "line 1: => occurs in it more than once"),
        ("가, 나\x07", "line 1: a control character (U+0007)"),
        ("# nothing", "terms.txt: no rules in it"),
        ("딥러닝, the", "line 1: nothing is left of 'the' to search for (the analyzer bilingual drops it)"),
    ],
)
def test_what_is_no_rule_is_told_with_its_line(text, message):
    with pytest.raises(InvalidCall) as raised:
        synonyms(text)

    assert message in str(raised.value)


@pytest.mark.parametrize("method", ["or", "shrag", "boolean"])
def test_papers_that_say_it_otherwise_are_found(index, plain_index, method):
    assert {"KO", "EN"} <= set(ids(index, "딥러닝", method))
    assert ids(index, "LLM", method) == ["LARGE"]
    assert ids(plain_index, "LLM", method) == []


def test_a_word_of_an_expression_may_be_any_of_its_equivalents():
    assert expanded("LLM AND 평가") == And(
        (
            Or((Term("LLM", ("llm",)), Phrase("거대 모형", ((0, "거대"), (1, "모형")), weight=0.8))),
            Term("평가", ("평가",)),
        )
    )
