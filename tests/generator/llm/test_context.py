"""Prompts within the model's context: counted, shortened by whole sentences, and noted."""

import asyncio
import json

import httpx
import pytest

from generator.answers.model_answer import written_answer
from generator.errors import ContextTooSmall, ModelRefusedCall, TokenizerUnusable
from generator.llm import LanguageModel
from generator.settings import CacheSettings
from tests.generator.language_model import Scripted, no_fallback, says, settings
from tests.generator.sample_index import passage

SENTENCE = {"text": "The first river is long.", "citations": [1]}
ANSWER = {"title": "Rivers", "introduction": [], "body": [SENTENCE], "conclusion": [], "answered": True}
LONG = passage("LONG", "The first river is long. The second river is longer. The third river is dry.")
SHORT = passage("SHORT", "Rivers are wet. Lakes too.")
TOO_LONG = (
    "This model's maximum context length is 900 tokens. However, your prompt contains 1200 input tokens."
)
OVERFLOW = httpx.Response(400, json={"error": {"message": TOO_LONG, "code": 400}})
TEMPLATE = 256  # tokens that a chat template adds


def models(max_model_len):
    listed = ["broken", {"id": "another", "max_model_len": 7}]
    listed += [{"id": "tiny-writer", "max_model_len": max_model_len}]
    return lambda request: httpx.Response(200, json={"object": "list", "data": listed})


def tokenize(request):
    """Count as a tokenizer that makes one token a word."""
    words = json.loads(request.content)["messages"][0]["content"].split()
    return httpx.Response(200, json={"count": len(words), "tokens": []})


def written(sample, *answers, beside=None, evidence=(LONG, SHORT), times=1, mode="off", file=None, **changed):
    """Ask for an answer, some times at once; return the script and what came of the last."""
    script = Scripted(answers or [says(ANSWER)] * times, beside or {})
    cache = CacheSettings(mode=mode, **({"file": file} if file else {}))

    async def call():
        async with LanguageModel(settings(**changed), transport=script.transport, cache=cache) as model:
            asked = [
                written_answer("Which river is long?", evidence, sample, no_fallback).call(model)
                for _ in range(times)
            ]
            return (await asyncio.gather(*asked))[-1]

    return script, asyncio.run(call())


@pytest.fixture
def whole(sample):
    """Return the whole prompt."""
    script, _ = written(sample)
    return script.bodies[0]["messages"][0]["content"]


def passages_sent(script, call=-1):
    content = script.bodies[call]["messages"][0]["content"]
    return [part.partition("</passage>")[0].split("\n")[2] for part in content.split("<passage number=")[1:]]


@pytest.mark.parametrize(
    ("beside", "changed", "expected"),
    [
        ({}, {}, (None, "nobody", None, [])),
        ({"models": models(32_768)}, {}, (32_768, "server", "bytes", ["/v1/models"])),
        ({}, {"context_tokens": 100_000}, (100_000, "setting", "bytes", [])),
        ({"models": lambda _: httpx.Response(200, text="[]")}, {}, (None, "nobody", None, ["/v1/models"])),
    ],
)
def test_a_prompt_that_fits_by_its_bytes_or_has_no_known_limit_is_sent_whole(
    sample, beside, changed, expected
):
    script, done = written(sample, beside=beside, **changed)
    record = done.prompt.as_record()
    assert passages_sent(script)[0].endswith("dry.")
    paths = [request.url.path for request in script.asked_beside if expected[3]]
    assert (record["tokens"], record["said_by"], record["counted_by"], paths) == expected
    assert (record["shortened"], done.prompt.note) == ([], "")


@pytest.mark.parametrize("counts", ["server", "bytes", "dialect"])
@pytest.mark.parametrize(("more", "kept"), [(0, 76), (-1, 52)])
def test_one_token_too_many_drops_one_sentence_with_a_note(sample, whole, counts, more, kept):
    size = len(whole.split()) if counts == "server" else len(whole.encode()) + TEMPLATE
    beside = {"models": models(size + more + 64)} | ({"tokenize": tokenize} if counts == "server" else {})
    given = {"dialect": "openai"} if counts == "dialect" else {}
    script, done = written(sample, beside=beside, max_tokens=64, **given)
    assert passages_sent(script) == [LONG.text[:kept], SHORT.text]
    assert done.prompt.count.counted_by == ("server" if counts == "server" else "bytes")
    cuts = [{"passage_id": "LONG", "characters": kept, "of": 76}] if more else []
    assert done.prompt.as_record()["shortened"] == cuts
    note = (
        f"passages shortened to fit the model's context of {size + 63:,} tokens: LONG to 52 of 76 characters"
    )
    assert done.prompt.note == (note if more else "")
    asked = [json.loads(each.content) for each in script.asked_beside if each.url.path == "/tokenize"]
    assert bool(asked) is (counts != "dialect" and (counts == "server" or bool(more)))
    if counts == "server":
        assert script.bodies[0]["messages"] in [body["messages"] for body in asked]
        assert asked[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.needs_libraries
def test_a_local_tokenizer_counts_where_the_server_does_not(sample, whole, tmp_path):
    import tokenizers

    local = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    local.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    local.save(str(tmp_path / "tokenizer.json"))
    room = len(whole.split()) + TEMPLATE
    _, done = written(sample, context_tokens=room + 64, max_tokens=64, tokenizer=tmp_path)
    assert (done.prompt.count.tokens, done.prompt.count.counted_by) == (room, "tokenizer")
    for content in (None, "no tokenizer"):
        file = tmp_path / f"{content}.json"
        if content:
            file.write_text(content)
        with pytest.raises(TokenizerUnusable, match=r"SHRAG_LLM__TOKENIZER: .*\.json"):
            written(sample, tokenizer=file)


def test_a_refused_prompt_is_shortened_and_sent_once_more(sample):
    script, done = written(sample, OVERFLOW, says(ANSWER), beside={"tokenize": tokenize}, max_tokens=64)
    assert passages_sent(script, 1) == [LONG.text[:52], SHORT.text]  # although it would fit by its count
    assert (done.prompt.as_record()["said_by"], done.prompt.context.tokens) == ("refusal", 900)
    assert done.reply.attempts == 2
    with pytest.raises(ModelRefusedCall, match="the prompt is longer than the model's context"):
        written(sample, OVERFLOW, OVERFLOW, beside={"tokenize": tokenize}, max_tokens=64)


@pytest.mark.parametrize(
    ("answer", "beside", "changed", "said"),
    [
        (
            says(ANSWER),
            {"models": models(300)},
            {"max_tokens": 256},
            "room for 44: the context is 300 tokens",
        ),
        (OVERFLOW, {}, {"max_tokens": 64, "evidence": [passage("ONE", "One sentence.")]}, "reserved"),
    ],
)
def test_a_prompt_that_never_fits_is_an_error(sample, answer, beside, changed, said):
    with pytest.raises(ContextTooSmall, match=said) as caught:
        written(sample, answer, beside=beside | {"tokenize": tokenize}, **changed)
    assert "SHRAG_LLM__MAX_TOKENS" in str(caught.value)


def test_a_repair_without_room_for_the_invalid_answer_leaves_it_out(sample):
    script, done = written(sample, says("A broken answer."), OVERFLOW, says(ANSWER))
    sent_back = [body["messages"][1]["content"] for body in script.bodies[1:]]
    assert sent_back == ["A broken answer.", "(left out)"]
    assert "there is no JSON object in it" in script.bodies[2]["messages"][2]["content"]
    assert (done.reply.value.title, done.reply.repaired, done.reply.attempts) == ("Rivers", True, 3)
