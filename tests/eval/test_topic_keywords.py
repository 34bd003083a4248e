import asyncio
import json

import httpx
import pytest

from eval.keywords import ask_for_keywords, keywords_record
from eval.ranking import RankedTopic
from generator.errors import ModelUnreachable
from generator.llm import LanguageModel
from generator.settings import LanguageModelSettings
from indexer.analysis import make_analyzer

SETTINGS = LanguageModelSettings(base_url="http://model.test/v1", model="small", retries=0)
TOPICS = {"q1": "논에서 나오는 메탄", "q2": "Which practice schedule?"}


def asked(transport):
    """Return what the model gives each topic."""

    async def ask():
        async with LanguageModel(SETTINGS, transport=transport) as model:
            analyzer = make_analyzer("bilingual")
            return {key: await ask_for_keywords(text, model, analyzer) for key, text in TOPICS.items()}

    return asyncio.run(ask())


def record_of(transport):
    """Return what the manifest says of it."""
    topics = {key: RankedTopic([], keywords=given.record) for key, given in asked(transport).items()}
    return keywords_record(SETTINGS, topics)


def answering(answer_to):
    """Return a server that answers each request with what `answer_to` makes of its text."""

    def respond(request):
        content = answer_to(json.loads(request.content)["messages"][0]["content"])
        message = {"role": "assistant", "content": content}
        return httpx.Response(
            200, json={"model": "small-1", "choices": [{"message": message, "finish_reason": "stop"}]}
        )

    return httpx.MockTransport(respond)


GOOD = json.dumps({"korean": ["논", "메탄"], "english": ["methane", "paddy"]}, ensure_ascii=False)


def test_every_topic_has_the_models_keywords():
    found = asked(answering(lambda _: GOOD))

    assert [keyword.text for keyword in found["q1"].keywords] == ["논", "methane", "메탄", "paddy"]
    assert [keyword.text for keyword in found["q2"].keywords] == ["methane", "논", "paddy", "메탄"]


def test_the_record_says_which_model_and_what_it_said():
    record = record_of(answering(lambda _: GOOD))

    assert (record["source"], record["models"], record["seed"]) == ("model", ["small-1"], 0)
    assert record["texts"]["q1"] == ["논", "methane", "메탄", "paddy"]
    assert record["unusable"] == []


def test_a_question_without_a_usable_answer_is_named():
    transport = answering(lambda prompt: "no idea" if "practice" in prompt else GOOD)

    assert asked(transport)["q2"].keywords is None
    assert record_of(transport)["unusable"] == ["q2"]


def test_a_model_that_cannot_be_reached_ends_it():
    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(ModelUnreachable):
        asked(httpx.MockTransport(refuse))
