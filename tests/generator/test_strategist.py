"""Strategies from a language model: the calls, their tolerance, what is added, and the fallback."""

import asyncio
import unicodedata
from typing import Any

import httpx
import pytest

from generator.prompts import load_prompt
from generator.strategist import FALLBACK, by_language, with_strategy
from generator.tracing import Step
from retriever.request import SearchRequest
from retriever.strategy import Strategy
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import settings_of
from tests.generator.test_pipeline import UNUSED

ENGLISH = "Can artificial intelligence forecast the level of a river?"
KO = {"ko": ["수위 예측", "하천"], "exclude": [], "years": None, "steps": []}
EN = {"en": ["water level forecasting", "river"], "exclude": [], "years": None, "steps": []}
BOTH = KO | EN
REFUSED = httpx.Response(401)


def choose(*replies, question=ENGLISH, strategist="model", calls="one", **request):
    """Return the script, the step and the strategy of a request."""
    script, step = Scripted(replies), Step("search")
    given = settings_of(UNUSED, llm=settings(retries=0, strategy_calls=calls))

    async def ask():
        async with given.language_model(script.transport) as model:
            asked = SearchRequest(question, **request)
            return await with_strategy(step, asked, strategist, given, model)

    return script, step, asyncio.run(ask()).strategy


def test_two_calls_ask_for_the_keywords_of_each_language_the_questions_first():
    script, step, strategy = choose(says(EN), says(KO), calls="language")
    terms = {"terms": "2–5", "question": ENGLISH}
    assert [body["messages"][0]["content"] for body in script.bodies] == [
        load_prompt("keywords", "en").render(**terms),
        load_prompt("keywords", "ko").render(**terms),
    ]
    assert (strategy.en, strategy.ko) == (("water level forecasting", "river"), ("수위 예측", "하천"))
    assert strategy.origin == "model"
    (made,) = step.children
    assert made.output == strategy.as_record()
    assert [child.inputs for child in made.children] == [{"languages": ["en"]}, {"languages": ["ko"]}]


NO_YEARS: list[Any] = [[2020, 2010], [1, None], ["soon", "later"], {}]
STEPS = ["Who wrote it?", "who wrote it", ENGLISH, "?!", "Where does that person work?"]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"ko": "수위 예측, 하천", "note": "x"}, {"ko": ("수위 예측", "하천")}),
        ({"en": ["river", 2019]}, {"en": ("river", "2019")}),
        ({"exclude": "tidal river"}, {"exclude": ({"en": "tidal river"},)}),
        *[({"years": years}, {"years": None}) for years in NO_YEARS],
        ({"steps": STEPS}, {"steps": ("who wrote it", "Where does that person work?")}),
        ({"steps": ["Who wrote it?", ENGLISH]}, {"steps": ()}),
        ({"steps": None}, {"steps": ()}),
    ],
)
def test_replies_are_read_tolerantly(said, read):
    _, _, strategy = choose(says(BOTH | said))
    assert {name: getattr(strategy, name) for name in read} == read


def test_things_of_two_calls_are_joined_where_they_are_as_many():
    own, other = EN | {"exclude": ["tidal river"]}, KO | {"exclude": ["감조하천"]}
    _, _, strategy = choose(says(own), says(other), calls="language")
    assert strategy.exclude == ({"ko": "감조하천", "en": "tidal river"},)
    _, _, strategy = choose(says(own), says(KO | {"exclude": ["강", "하구"]}), calls="language")
    assert strategy.exclude == ({"en": "tidal river"},)


@pytest.mark.parametrize(
    ("ko", "en", "expected"),
    [
        (
            ["river stage", "하천 수위", "LSTM"],
            ["홍수", "flood", "GPT-4"],
            (["하천 수위", "LSTM", "홍수"], ["flood", "GPT-4", "river stage"]),
        ),
        (["水位预测", "하천", "🌊"], ["паводок", "flood"], (["하천"], ["flood"])),
        (["하천", "하천"], ["River", "river"], (["하천"], ["River"])),
        ([unicodedata.normalize("NFD", "하천"), "“수위”"], ["- flood"], (["하천", "수위"], ["flood"])),
    ],
)
def test_keywords_go_to_the_list_of_their_language(ko, en, expected):
    assert tuple(by_language({"ko": ko, "en": en}, 5).values()) == expected


def test_explicit_conditions_of_the_question_join_those_of_the_model():
    _, _, strategy = choose(
        says(BOTH | {"exclude": [{"ko": "감조하천", "en": "tidal rivers"}], "years": [2010, None]}),
        question=f"{ENGLISH} -dams, except tidal rivers, since 2015",
    )
    assert strategy.exclude == ({"en": "dams"}, {"ko": "감조하천", "en": "tidal rivers"})
    assert strategy.years == (2015, None)


@pytest.mark.parametrize(
    ("replies", "keywords", "note"),
    [
        ([says(EN), REFUSED], ("water level forecasting", "river"), "no keywords in ko, the model failed: "),
        ([REFUSED, REFUSED], None, f"{FALLBACK}, the model failed: "),
        (
            [says({"en": ["паводок"]}), says({"ko": ["🌊"]})],
            None,
            f"{FALLBACK}, the model gave no usable keyword",
        ),
    ],
)
def test_where_a_call_fails_one_note_says_what_replaces_it(replies, keywords, note):
    _, step, strategy = choose(*replies, calls="language")
    assert (strategy and strategy.en) == keywords
    (noted,) = step.all_notes()
    assert noted.startswith(note)


@pytest.mark.parametrize(
    ("request_of", "notes"),
    [
        ({"strategist": "statistics"}, []),
        ({"strategy": Strategy.of_person(["river"])}, []),
        ({"method": "or"}, ["method 'or' searches without a strategy; the model was not asked"]),
    ],
)
def test_where_no_strategy_is_needed_the_model_is_not_asked(request_of, notes):
    script, step, strategy = choose(**request_of)
    assert (script.requests, step.all_notes()) == ([], notes)
    assert strategy == request_of.get("strategy")
