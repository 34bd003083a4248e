"""Prompts within the model's context: shortened by the same share of each passage, and noted."""

import asyncio

import httpx
import pytest

from generator.answers.model_answer import written_answer
from generator.errors import ContextTooSmall, ModelRefusedCall
from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, no_fallback, says, settings
from tests.generator.sample_index import passage

SENTENCE = {"text": "The first river is long.", "citations": [1]}
ANSWER = {"title": "Rivers", "introduction": [], "body": [SENTENCE], "conclusion": [], "answered": True}
LONG = passage("LONG", " ".join(f"River {number} is long." for number in range(40)))
SHORT = passage("SHORT", " ".join(f"Lake {number} is wet." for number in range(20)))
OVERFLOW = httpx.Response(
    400, json={"error": {"message": "This model's maximum context length is 900 tokens."}}
)


def models(max_model_len):
    listed = [{"id": "another", "max_model_len": 7}, {"id": "tiny-writer", "max_model_len": max_model_len}]
    return lambda request: httpx.Response(200, json={"object": "list", "data": listed})


def written(sample, *answers, beside=None, evidence=(LONG, SHORT), **changed):
    """Ask for an answer; return the script and what came of it."""
    script = Scripted(answers or [says(ANSWER)], beside or {})

    async def call():
        given = settings(max_tokens=64, **changed)
        async with LanguageModel(given, transport=script.transport) as model:
            return await written_answer("Which river is long?", evidence, sample, no_fallback).call(model)

    return script, asyncio.run(call())


def passages_sent(script, call=-1):
    content = script.bodies[call]["messages"][0]["content"]
    return [
        part.partition("\n</passage>")[0].split("\n", 2)[2] for part in content.split("<passage number=")[1:]
    ]


@pytest.mark.parametrize(
    ("beside", "changed", "tokens"),
    [
        ({}, {}, None),
        ({"models": models(32_768)}, {}, 32_768),
        ({"models": models(7)}, {"context_tokens": 100_000}, 100_000),
        ({"models": lambda _: httpx.Response(200, text="[]")}, {}, None),
    ],
)
def test_a_prompt_that_fits_or_has_no_known_limit_is_sent_whole(sample, beside, changed, tokens):
    script, done = written(sample, beside=beside, **changed)
    assert passages_sent(script) == [LONG.text, SHORT.text]
    assert done.prompt.as_record() == {"tokens": tokens, "shortened": []}
    assert done.prompt.note == ""


def test_passages_lose_the_same_share_in_whole_sentences_with_a_note(sample):
    whole, _ = written(sample)
    size = len(whole.bodies[0]["messages"][0]["content"].encode()) // 3
    script, done = written(sample, beside={"models": models(size + 64 - 200)})
    shares = []
    for given, sent in zip((LONG, SHORT), passages_sent(script), strict=True):
        assert given.text.startswith(sent)
        assert sent.endswith(".")
        shares.append(len(sent) / len(given.text))
    assert shares[0] == pytest.approx(shares[1], abs=0.05)
    assert len(script.bodies[0]["messages"][0]["content"].encode()) // 3 <= size - 200
    assert done.prompt.note.startswith(
        f"passages shortened to fit the model's context of {size - 136:,} tokens"
    )


def test_a_refused_prompt_is_shortened_and_sent_again(sample):
    script, done = written(sample, OVERFLOW, OVERFLOW, says(ANSWER), evidence=[passage("A", LONG.text * 9)])
    first, second, third = (len(passages_sent(script, call)[0]) for call in range(3))
    assert first > second > third
    assert done.reply.attempts == 3
    assert "A to" in done.prompt.note
    with pytest.raises(ModelRefusedCall, match="the prompt is longer than the model's context"):
        written(sample, *[OVERFLOW] * 3, evidence=[passage("A", LONG.text * 9)])


def test_a_prompt_that_never_fits_is_an_error(sample):
    with pytest.raises(ContextTooSmall, match="room for 236") as caught:
        written(sample, beside={"models": models(300)})
    assert "SHRAG_LLM__MAX_TOKENS" in str(caught.value)
