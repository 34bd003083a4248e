"""Strategies of topics from a language model."""

import asyncio
import json

import httpx
import pytest

from eval.ranking import RankedTopic
from eval.strategies import strategist_record, strategy_of_topic
from generator.errors import ModelUnreachable
from generator.llm import LanguageModel
from generator.settings import LanguageModelSettings
from retriever.request import SearchRequest

SETTINGS = LanguageModelSettings(base_url="http://model.test/v1", model="small", retries=0)
QUESTION = "Which practice schedule?"


def asked(transport):
    """Return what the model gives."""

    async def ask():
        async with LanguageModel(SETTINGS, transport=transport) as model:
            return await strategy_of_topic(SearchRequest(QUESTION), model)

    return asyncio.run(ask())


def answering(content):
    """Return a server that answers each request with a text."""

    def respond(_):
        choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        return httpx.Response(200, json={"model": "small-1", "choices": [choice]})

    return httpx.MockTransport(respond)


def test_a_strategy_has_the_keywords_of_the_model():
    found = asked(answering(json.dumps({"ko": ["연습"], "en": ["practice", "schedule"]})))

    assert (found.strategy.ko, found.strategy.en) == (("연습",), ("practice", "schedule"))
    assert list(found.prompts) == ["keywords"]


def test_a_question_without_a_usable_answer_is_named():
    assert asked(answering("no idea")).strategy is None
    record = strategist_record(None, SETTINGS, {"q1": RankedTopic([], strategy={})})
    assert (record["source"], record["unusable"]) == ("model", ["q1"])


def test_a_model_that_cannot_be_reached_ends_it():
    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(ModelUnreachable):
        asked(httpx.MockTransport(refuse))
