"""Prompts within the model's context: counted, shortened by whole sentences, and noted."""

import asyncio
import json

import httpx
import pytest

from generator.answers.model_answer import written_answer
from generator.errors import ContextTooSmall, ModelRefusedCall, TokenizerUnusable
from generator.llm import LanguageModel
from generator.model_calls.context import passage_texts, shortened_lengths
from generator.settings import CacheSettings
from tests.generator.language_model import Scripted, no_fallback, says, settings
from tests.generator.sample_index import passage
from tests.virtual_clock import run

pytest_plugins = ["tests.generator.sample_index"]

ANSWER = {"title": "Rivers", "introduction": [], "body": [], "conclusion": [], "answered": True}
LONG = passage("LONG", "The first river is long. The second river is longer. The third river is dry.")
SHORT = passage("SHORT", "Rivers are wet. Lakes too.")
OVERFLOW = {
    "error": {
        "message": "This model's maximum context length is 900 tokens. However, your prompt contains 1200 "
        "input tokens. Please reduce the length of the input prompt.",
        "type": "BadRequestError",
        "param": "input_tokens",
        "code": 400,
    }
}


def models(max_model_len):
    listed = [{"id": "another", "max_model_len": 7}, {"id": "tiny-writer", "max_model_len": max_model_len}]
    return lambda request: httpx.Response(200, json={"object": "list", "data": listed})


def words_of(request):
    """Count as a tokenizer that makes one token a word."""
    return len(json.loads(request.content)["messages"][0]["content"].split())


def tokenize(request):
    return httpx.Response(200, json={"count": words_of(request), "max_model_len": 900, "tokens": []})


def answer_by(model, sample, evidence=(LONG, SHORT)):
    return written_answer("Which river is long?", evidence, sample, no_fallback).call(model)


def written(sample, *answers, beside=None, evidence=(LONG, SHORT), **changed):
    """Ask for an answer; return the script and what came of it."""
    script = Scripted(answers or [says(ANSWER)], beside or {})

    async def call():
        async with LanguageModel(settings(**changed), transport=script.transport) as model:
            return await answer_by(model, sample, evidence)

    return script, asyncio.run(call())


def words_of_whole(sample):
    script, _ = written(sample)
    return len(script.bodies[0]["messages"][0]["content"].split())


def bytes_of_whole(sample):
    """What all of the prompt counts at most."""
    script, _ = written(sample)
    return len(script.bodies[0]["messages"][0]["content"].encode()) + 256


def passages_sent(script, call=-1):
    content = script.bodies[call]["messages"][0]["content"]
    return [part.partition("</passage>")[0].split("\n")[2] for part in content.split("<passage number=")[1:]]


# Shortening


def test_the_longest_passage_loses_its_last_sentence_first():
    passages = [LONG, SHORT]
    assert [passage_texts(passages, lengths) for lengths in shortened_lengths(passages)] == [
        [
            "\nThe first river is long. The second river is longer. The third river is dry.",
            "\nRivers are wet. Lakes too.",
        ],
        ["\nThe first river is long. The second river is longer.", "\nRivers are wet. Lakes too."],
        ["\nThe first river is long.", "\nRivers are wet. Lakes too."],
        ["\nThe first river is long.", "\nRivers are wet."],
    ]


# Within the context


def test_without_a_known_context_size_the_whole_prompt_is_sent(sample):
    script, done = written(sample)
    assert passages_sent(script)[0].endswith("dry.")
    assert done.prompt.as_record() == {
        "tokens": None,
        "said_by": "nobody",
        "prompt_tokens": None,
        "counted_by": None,
        "shortened": [],
    }


def test_a_prompt_whose_bytes_fit_is_not_counted_further(sample):
    script, done = written(sample, beside={"models": models(32_768), "tokenize": tokenize})
    assert [request.url.path for request in script.asked_beside] == ["/v1/models"]
    assert (done.prompt.count.counted_by, done.prompt.said_by, done.prompt.cuts) == ("bytes", "server", ())


def test_a_prompt_that_fits_by_the_servers_count_is_whole(sample):
    room = words_of_whole(sample)
    beside = {"models": models(room + 64), "tokenize": tokenize}
    script, done = written(sample, beside=beside, max_tokens=64)
    assert passages_sent(script)[0].endswith("dry.")
    assert (done.prompt.count.tokens, done.prompt.count.counted_by) == (room, "server")
    assert done.prompt.note == ""


def test_one_token_too_many_drops_one_sentence_with_a_note(sample):
    room = words_of_whole(sample) - 1
    beside = {"models": models(room + 64), "tokenize": tokenize}
    script, done = written(sample, beside=beside, max_tokens=64)
    assert passages_sent(script) == [
        "The first river is long. The second river is longer.",
        "Rivers are wet. Lakes too.",
    ]
    assert done.prompt.note == (
        f"passages shortened to fit the model's context of {room + 64:,} tokens: LONG to 52 of 76 characters"
    )
    assert done.prompt.as_record()["shortened"] == [{"passage_id": "LONG", "characters": 52, "of": 76}]


def test_a_prompt_that_never_fits_is_an_error(sample):
    with pytest.raises(ContextTooSmall) as caught:
        written(sample, beside={"models": models(300), "tokenize": tokenize}, max_tokens=256)
    assert (
        "there is room for 44: the context is 300 tokens, and 256 tokens are reserved for the answer."
        in str(caught.value)
    )
    assert "SHRAG_LLM__MAX_TOKENS" in str(caught.value)


def test_the_setting_of_the_context_size_precedes_the_servers(sample):
    script, done = written(sample, context_tokens=100_000)
    assert script.asked_beside == []
    assert (done.prompt.context_tokens, done.prompt.said_by) == (100_000, "setting")


def test_the_sent_messages_are_counted(sample):
    beside = {"models": models(bytes_of_whole(sample)), "tokenize": tokenize}
    script, _ = written(sample, beside=beside, max_tokens=64)
    asked = [
        json.loads(request.content) for request in script.asked_beside if request.url.path == "/tokenize"
    ]
    assert asked[0]["add_generation_prompt"] is True
    assert asked[0]["chat_template_kwargs"] == {"enable_thinking": False}
    assert script.bodies[0]["messages"] in [body["messages"] for body in asked]


def test_without_a_count_of_the_server_bytes_are_counted(sample):
    room = bytes_of_whole(sample) - 1
    _, done = written(sample, beside={"models": models(room + 64)}, max_tokens=64)
    assert done.prompt.count.counted_by == "bytes"
    assert [cut.passage_id for cut in done.prompt.cuts] == ["LONG"]


def test_a_plain_openai_server_gets_no_request_for_a_count(sample):
    script, _ = written(
        sample, beside={"models": models(bytes_of_whole(sample) + 63)}, max_tokens=64, dialect="openai"
    )
    assert [request.url.path for request in script.asked_beside] == ["/v1/models"]
    assert "chat_template_kwargs" not in script.bodies[0]


@pytest.mark.needs_libraries
def test_a_local_tokenizer_counts_where_the_server_does_not(sample, tmp_path):
    import tokenizers

    model = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
    local = tokenizers.Tokenizer(model)
    local.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    local.save(str(tmp_path / "tokenizer.json"))
    room = words_of_whole(sample) + 256
    _, done = written(sample, context_tokens=room + 64, max_tokens=64, tokenizer=tmp_path)
    assert (done.prompt.count.tokens, done.prompt.count.counted_by) == (room, "tokenizer")
    assert done.prompt.cuts == ()


@pytest.mark.needs_libraries
@pytest.mark.parametrize("content", [None, "no tokenizer"])
def test_an_unreadable_tokenizer_is_an_error_that_names_its_setting(sample, tmp_path, content):
    file = tmp_path / "tokenizer.json"
    if content:
        file.write_text(content)
    with pytest.raises(TokenizerUnusable, match=r"SHRAG_LLM__TOKENIZER: .*tokenizer\.json"):
        written(sample, tokenizer=file)


# What the server refuses


def test_a_refused_prompt_is_shortened_and_sent_once_more(sample):
    overflow = httpx.Response(400, json=OVERFLOW)
    script, done = written(sample, overflow, says(ANSWER), beside={"tokenize": tokenize}, max_tokens=64)
    assert len(script.requests) == 2
    assert passages_sent(script, 1) == [
        "The first river is long. The second river is longer.",  # although it would fit by its count
        "Rivers are wet. Lakes too.",
    ]
    assert done.prompt.as_record()["said_by"] == "refusal"
    assert done.prompt.context_tokens == 900


def test_a_refusal_without_a_size_shortens_the_prompt_to_three_quarters(sample):
    overflow = httpx.Response(400, json={"error": {"message": "context_length_exceeded"}})
    evidence = [passage("LONG", "A sentence of some words stands here. " * 200)]
    script, done = written(sample, overflow, says(ANSWER), beside={"tokenize": tokenize}, evidence=evidence)
    first, second = (len(body["messages"][0]["content"].split()) for body in script.bodies)
    assert 0.74 * first < second <= 0.75 * first
    assert "the model's context: LONG to " in done.prompt.note


def test_a_second_refusal_is_final(sample):
    overflow = httpx.Response(400, json=OVERFLOW)
    with pytest.raises(ModelRefusedCall, match="the prompt is longer than the model's context"):
        written(sample, overflow, overflow, beside={"tokenize": tokenize}, max_tokens=64)


def test_a_repair_without_room_for_the_invalid_answer_leaves_it_out(sample):
    overflow = httpx.Response(400, json=OVERFLOW)
    script, done = written(
        sample, says("A broken answer."), overflow, says(ANSWER), beside={"tokenize": tokenize}
    )
    sent_back = [body["messages"][1]["content"] for body in script.bodies[1:]]
    assert sent_back == ["A broken answer.", "(left out)"]
    assert "there is no JSON object in it" in script.bodies[2]["messages"][2]["content"]
    assert (done.reply.value.title, done.reply.repaired, done.prompt.cuts) == ("Rivers", True, ())


def test_an_answer_from_a_shortened_prompt_is_replayed_without_the_server(sample, tmp_path):
    overflow = httpx.Response(400, json=OVERFLOW)
    script = Scripted([overflow, says(ANSWER)], {"tokenize": tokenize})

    async def ask(mode, transport):
        given = settings(max_tokens=64)
        cache = CacheSettings(mode=mode, file=tmp_path / "calls.sqlite")
        async with LanguageModel(given, transport=transport, cache=cache) as model:
            return await written_answer("Which river is long?", (LONG, SHORT), sample, no_fallback).call(
                model
            )

    recorded = asyncio.run(ask("record", script.transport))
    replayed = asyncio.run(ask("replay", Scripted([]).transport))
    assert replayed.prompt == recorded.prompt
    assert replayed.value == recorded.value


def test_a_prompt_that_cannot_be_shortened_is_not_sent_again(sample):
    overflow = httpx.Response(400, json=OVERFLOW)
    shortest = [passage("ONE", "One sentence.")]
    with pytest.raises(ContextTooSmall):
        written(sample, overflow, beside={"tokenize": tokenize}, evidence=shortest, max_tokens=64)


def test_a_limit_of_the_answer_above_the_context_size_is_a_named_error(sample):
    too_many = (
        "max_tokens=2048 cannot be greater than max_model_len=1024. Please request fewer output tokens."
    )
    overflow = httpx.Response(400, json={"error": {"message": too_many, "code": 400}})
    with pytest.raises(
        ContextTooSmall, match=r"the context is 1,024 tokens, and 2,048 tokens are reserved for the answer"
    ):
        written(sample, overflow, beside={"tokenize": tokenize})


def test_a_failed_request_for_the_context_size_is_not_repeated_by_each_question(sample):
    def refuse(request):
        raise httpx.ReadError("reset")

    script = Scripted([says(ANSWER)] * 3, {"models": refuse})

    async def ask_thrice():
        async with LanguageModel(settings(), transport=script.transport) as model:
            asked = [answer_by(model, sample) for _ in range(3)]
            return await asyncio.gather(*asked)

    assert {done.prompt.said_by for done in asyncio.run(ask_thrice())} == {"nobody"}
    assert [request.url.path for request in script.asked_beside] == ["/v1/models"]


def test_a_request_for_the_context_size_has_the_time_limit_of_a_request():
    async def is_silent(request):
        await asyncio.Event().wait()

    async def ask():
        given = settings(timeout_s=0.1)
        async with LanguageModel(given, transport=httpx.MockTransport(is_silent)) as model:
            begun = asyncio.get_running_loop().time()
            said_by = (await model.context(model.limit("answer"))).said_by
            return said_by, asyncio.get_running_loop().time() - begun

    assert run(ask()) == ("nobody", 0.1)


@pytest.mark.parametrize("status", [401, 429, 503])
def test_after_a_failure_the_next_question_requests_the_context_size(sample, tmp_path, status):
    answers = [httpx.Response(status), models(100_000)(None)]
    script = Scripted([says(ANSWER)], {"models": lambda request: answers.pop(0)})
    cache = CacheSettings(mode="use", file=tmp_path / "calls.sqlite")

    async def ask():
        async with LanguageModel(settings(), transport=script.transport, cache=cache) as model:
            return await written_answer("Which river is long?", (LONG, SHORT), sample, no_fallback).call(
                model
            )

    assert [asyncio.run(ask()).prompt.said_by for _ in range(3)] == ["nobody", "server", "server"]
    assert answers == []


def test_after_a_failure_the_next_question_requests_a_count(sample, tmp_path):
    room = bytes_of_whole(sample) - 1
    busy = [httpx.Response(503)]
    beside = {
        "models": models(room + 64),
        "tokenize": lambda request: busy.pop() if busy else tokenize(request),
    }
    script = Scripted([says(ANSWER)] * 2, beside)
    cache = CacheSettings(mode="use", file=tmp_path / "calls.sqlite")

    async def ask():
        given = settings(max_tokens=64)
        async with LanguageModel(given, transport=script.transport, cache=cache) as model:
            return await written_answer("Which river is long?", (LONG, SHORT), sample, no_fallback).call(
                model
            )

    assert [asyncio.run(ask()).prompt.count.counted_by for _ in range(2)] == ["bytes", "server"]


def test_an_invalid_list_of_models_counts_as_none(sample):
    for nonsense in (
        '{"data": [7]}',
        "[]",
        "<html>",
        '{"data": [{"id": "tiny-writer", "max_model_len": true}]}',
    ):
        answer = httpx.Response(200, text=nonsense)
        _, done = written(sample, beside={"models": lambda request, answer=answer: answer})
        assert done.prompt.said_by == "nobody"
