"""Recorded calls: kept, given back to the byte, missed by name; several processes, a kill, a damaged file."""

import asyncio
import json
import sqlite3

import httpx
import pytest
from pydantic import BaseModel

from generator.errors import CacheUnusable, CallNotRecorded, ModelAnswerInvalid, ModelFailed
from generator.llm import LanguageModel
from generator.settings import CacheSettings
from tests.generator.language_model import Scripted, answers_with, says, served, settings
from tests.generator.sample_index import NAME, shrag

RIVER = {"name": "낙동강"}
OTHER = {"name": "한강"}
MESSAGES = [{"role": "user", "content": "Which river?"}]
KEYWORDS = {"ko": ["간호사 회복탄력성", "이직 의도"], "en": ["resilience", "turnover"]}
NOWHERE = "http://127.0.0.1:9/v1"  # the discard port: nothing listens


class River(BaseModel):
    name: str


@pytest.fixture
def file(tmp_path):
    return tmp_path / "calls.sqlite"


def ask(mode, file, *answers, times=1, prompt_version=1, messages=MESSAGES, on_text=None, **changed):
    """Ask for a river, some times over; return the script and the replies."""
    script = Scripted(answers)
    cache = CacheSettings(mode=mode, file=file)

    async def call():
        given = settings(retries=0, **changed)
        async with LanguageModel(given, transport=script.transport, cache=cache) as model:
            return [
                await model.complete_json(
                    messages, River, name="river", prompt_version=prompt_version, on_text=on_text
                )
                for _ in range(times)
            ]

    return script, asyncio.run(call())


# Modes


def test_what_was_recorded_is_replayed_without_a_request(file):
    _, [recorded] = ask("record", file, says(RIVER))
    script, [replayed] = ask("replay", file)
    assert script.requests == []
    assert replayed.value == recorded.value
    assert (recorded.from_cache, replayed.from_cache) == (False, True)
    first, second = recorded.as_record(), replayed.as_record()
    assert list(first.pop("milliseconds")) == ["queued", "total"]
    assert list(second.pop("milliseconds")) == ["from_cache"]
    assert first == second


def test_the_first_answer_of_two_processes_is_kept_and_used(file):
    cache = CacheSettings(mode="use", file=file)

    async def asked(transport):
        async with LanguageModel(settings(), transport=transport, cache=cache) as model:
            return await model.complete_json(MESSAGES, River, name="river", prompt_version=1)

    async def after_the_other(_):
        await asked(Scripted([says(RIVER)]).transport)
        return says(OTHER)

    late = asyncio.run(asked(httpx.MockTransport(after_the_other)))
    assert (late.value, late.from_cache) == (River(**RIVER), True)
    assert ask("replay", file)[1][0].value == River(**RIVER)


def test_use_does_not_keep_what_cannot_be_read(file):
    with pytest.raises(ModelAnswerInvalid):
        ask("use", file, says("no"), says("no"))
    script, [reply] = ask("use", file, says(RIVER))
    assert (len(script.requests), reply.value, reply.repaired) == (1, River(name="낙동강"), False)


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "another"},
        {"revision": "7a1c"},
        {"prompt_version": 2},
        {"temperature": 0.5},
        {"seed": 1},
        {"max_tokens": 99},
        {"extra_body": {"top_k": 1}},
        {"thinking": True},
        {"messages": [{"role": "user", "content": "Which lake?"}]},
    ],
)
def test_any_other_call_is_missed_by_name(file, changed):
    ask("record", file, says(RIVER))
    with pytest.raises(CallNotRecorded) as caught:
        ask("replay", file, **changed)
    message = str(caught.value)
    assert message.startswith(
        f"{file} does not contain the call chat 'river' of {changed.get('model', 'tiny-writer')} ("
    )
    assert "ending in “Which " in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(503, text="sk-secret is of no use at http://model.test/v1 now"),
        httpx.Response(200, text="<p>sk-secret came to http://model.test/v1</p>"),
        httpx.ConnectError("no way to http://model.test"),
    ],
)
def test_a_failure_is_kept_without_address_and_key_and_told_with_the_address_of_now(file, answer):
    with pytest.raises(ModelFailed, match=r"http://model\.test/v1/chat/completions"):
        ask("record", file, answer, api_key="sk-secret")
    assert b"model.test" not in file.read_bytes()
    assert b"sk-secret" not in file.read_bytes()
    with pytest.raises(ModelFailed, match=r"http://elsewhere\.test/v1/chat/completions"):
        ask("replay", file, base_url="http://elsewhere.test/v1")


# The file


def test_a_replay_without_a_recording_says_so(file):
    with pytest.raises(CacheUnusable, match=r"there is no recording .*calls\.sqlite\. Set SHRAG_CACHE__FILE"):
        ask("replay", file)
    assert not file.exists()


def test_a_file_that_is_something_else_is_one_clear_error_and_left_alone(file):
    file.write_bytes(b"no database at all, " * 100)
    with pytest.raises(
        CacheUnusable, match=r"calls\.sqlite is damaged: file is not a database\. Move it away"
    ):
        ask("record", file, says(RIVER))
    assert file.read_bytes() == b"no database at all, " * 100


@pytest.mark.parametrize("outcome", ["[" * 100_000, '{"model": "m"}', '{"error": "SystemExit"}'])
def test_an_outcome_that_is_none_is_one_clear_error(file, outcome):
    ask("record", file, says(RIVER))
    with sqlite3.connect(file) as opened:
        opened.execute("UPDATE calls SET outcome = ?", (outcome,))
    opened.close()
    with pytest.raises(CacheUnusable, match=r"calls\.sqlite is damaged: .*Move it away") as error:
        ask("use", file, says(RIVER))
    assert len(str(error.value)) < 1_000


# Whole runs


def cached(mode, file, base_url):
    return {
        "llm__base_url": base_url,
        "llm__model": "tiny-writer",
        "llm__retries": 0,
        "llm__strategy_calls": "one",
        "cache__mode": mode,
        "cache__file": file,
    }


def test_an_evaluation_with_a_models_keywords_replays_to_the_byte(sample_home, file, tmp_path):
    topics = tmp_path / "topics.tsv"
    topics.write_text(
        "q1\t간호사의 회복탄력성\nq2\tturnover of nurses\nq3\t간호사의 회복탄력성\n", encoding="utf-8"
    )
    evaluated = ["eval", "run", topics, "--name", NAME, "--strategist", "model", "--out"]
    with served(answers_with(KEYWORDS)) as model:
        done = shrag(
            *evaluated, tmp_path / "one.run", home=sample_home, **cached("record", file, model.base_url)
        )
        assert len(model.bodies) == 2
    again = shrag(*evaluated, tmp_path / "two.run", home=sample_home, **cached("replay", file, NOWHERE))
    assert (done.returncode, again.returncode) == (0, 0)
    assert (tmp_path / "one.run").read_bytes() == (tmp_path / "two.run").read_bytes()
    one, two = (json.loads((tmp_path / f"{name}.run.manifest.json").read_text()) for name in ("one", "two"))
    assert one["strategist"] == two["strategist"]
