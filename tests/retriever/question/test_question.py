"""What an analysed question says of its words: what they weigh, which are names, whether it is a passage."""

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.word_roles import KOREAN_NOUNS, KOREAN_VERBS, role_of
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints
from retriever.opening.synonyms import Synonyms
from retriever.question.analysis import ROLE_WEIGHTS, AnalysedQuestion, analyse_question


class NoGlossary:
    """A glossary without pairs."""

    def korean_words(self, words):
        return set()


class Index:
    """As much of an index as a question is analysed with."""

    def __init__(self, analyzer):
        self.analyzer = make_analyzer(analyzer)
        self.glossary = NoGlossary()
        self.synonyms = Synonyms()


BILINGUAL = Index("bilingual")
CLAIM = "Vaccination lowered mortality in seven of nine districts " * 4


def analysed(text, index=BILINGUAL):
    return analyse_question(index, text)


def light(text, index=BILINGUAL):
    return {token: weight for token, weight in analysed(text, index).weights.items() if weight < 1}


# Weights


@pytest.mark.parametrize(
    ("question", "asking", "request_words"),
    [
        (
            "리튬 이온 배터리의 열폭주에 관한 최근 논문을 요약해 줘",
            {"관하", "주"},
            {"최근", "논문", "요약"},
        ),
        ("누가 어떤 방법으로 해수면 상승을 측정했나요?", {"누구"}, set()),
        ("될 수 있는 것은 무엇인가?", {"것", "되", "수", "있", "무엇", "이"}, set()),
        (
            "Please provide a brief overview outlining the main approaches to knowledge distillation",
            set(),
            {"pleas", "provid", "brief", "overview", "outlin", "main"},
        ),
        ("Which of these have been used, and how?", {"which", "have", "been", "how"}, set()),
    ],
)
def test_words_that_ask_weigh_less_than_the_subject(question, asking, request_words):
    assert light(question) == {
        **dict.fromkeys(asking, ROLE_WEIGHTS["asking"]),
        **dict.fromkeys(request_words, ROLE_WEIGHTS["request"]),
    }


def test_a_word_that_may_ask_weighs_fully_where_it_is_a_noun():
    assert "수" not in light("수나라의 건국")
    assert analysed("수나라의 수도를 알 수 있는가?").weights["수"] == 9 * 2 / (8 + 2)


def test_a_word_that_stands_often_weighs_more_but_not_as_often():
    weights = analysed("graph graphs graph search").weights
    assert weights == {"graph": pytest.approx(27 / 11), "search": 1}


@pytest.mark.parametrize("analyzer", ["english", "korean"])
def test_other_analyzers_tell_the_same_words_of_a_question(analyzer):
    words = light("What does the latest overview provide on cells?", Index(analyzer))
    assert [word for word in words if word[:4] in {"what", "does", "doe", "late", "over", "prov"}] == [
        *(["what", "doe", "latest", "overview", "provid"] if analyzer == "english" else []),
        *(["what", "does", "latest", "overview", "provide"] if analyzer == "korean" else []),
    ]
    assert not {"cell", "cells"} & words.keys()


def test_the_listed_korean_nouns_are_tokens_of_the_analysis():
    listed = {noun: role for role, nouns in KOREAN_NOUNS.items() for noun in nouns.split()}
    text = "의 ".join(listed).replace("어떠의", "어떠한")
    tagged = BILINGUAL.analyzer.tagged_tokens(text)
    assert {token[0]: role_of(token[0], tag) for token, tag in tagged} == listed


def test_the_listed_korean_verbs_are_tokens_of_the_analysis():
    listed = {verb: role for role, verbs in KOREAN_VERBS.items() for verb in verbs.split()}
    sentences = [
        "이와 같은 것에 관하여, 책에 대한 글을 위하여, 법에 의하여 일을 하며 그에 따라 꽃이 된다.",
        "열로 인한 손실을 통하여 보지 못하고, 값은 없고, 있으며, 하지 않는다.",
        "어떻게, 얼마나 어떤가? 답이 어딨는가?",
        "자료를 드리고, 보여 주고, 알려 주고, 찾아 주기를 바랍니다. 답을 알고 싶으며 글을 원합니다.",
    ]
    found = {token[0] for text in sentences for token, tag in BILINGUAL.analyzer.tagged_tokens(text)}
    assert listed.keys() - found == set()


# Names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where was the film shot in Leland, North Carolina?", [("leland",), ("north", "carolina")]),
        ("Which Helicobacter pylori regimens work?", [("helicobact",)]),
        ("Grace Krilanovich wrote what?", [("grace", "krilanovich")]),
        ("Robots that walk", []),
        ("GPS without satellites? Cells use mRNA.", [("gp",), ("mrna",)]),
        ("WHAT IS THE CAPITAL OF FRANCE", []),
        ("아돌프 히틀러는 대한민국에서 BERT를 썼는가?", [("아돌프", "히틀러"), ("대한", "민국"), ("bert",)]),
        ("무엇이 배터리를 태우는가?", []),
        ("Films of Will Smith and May Lee", [("smith",), ("mai", "lee")]),
        ("Who shot the film Find Me? May I see it? Find more.", [("find", "me")]),
        ("When did Doctor Who begin, and what should I and We read?", [("doctor", "who")]),
    ],
)
def test_names_are_capitalised_or_proper_nouns(question, names):
    assert analysed(question).names == tuple(names)


# Passages


@pytest.mark.parametrize(
    ("text", "is_passage"),
    [
        (CLAIM, True),
        (CLAIM + "Why?", False),
        (CLAIM + "왜일까？", False),
        (CLAIM * 2 + "Why?", True),
        ("Please summarize what is known of vaccination", False),
    ],
)
def test_a_long_text_that_asks_nothing_is_a_passage(text, is_passage):
    assert analysed(text).is_passage is is_passage


def test_the_words_of_a_passage_weigh_as_those_of_a_question_and_none_is_a_name():
    passage = analysed("What the Seoul National University found is this. " + CLAIM)
    assert passage.weights["what"] == ROLE_WEIGHTS["asking"]
    assert passage.weights["seoul"] == 1
    assert passage.weights["vaccin"] == 9 * 4 / (8 + 4)
    assert passage.names == ()


def test_what_holds_no_word_has_no_weights():
    assert analysed("🌊").weights == {}


# Exclusions


def test_the_tokens_of_an_excluded_thing_are_not_the_questions_own():
    solid, sulfides = ("solid", 0, 0, 5), Exclusion("x", tokens=("solid", "sulfid"), names=("solid 황화 물",))
    question = AnalysedQuestion("", ((solid, ""),), constraints=Constraints(exclusions=(sulfides,)))

    assert question.excluded_tokens == {"sulfid", "황화", "물"}
    assert analysed("solid electrolytes").excluded_tokens == set()
