"""An answer as it arrives: what is told, in which order, and that it adds up to the answer."""

import asyncio
import json
import threading
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from generator.answer_events import stream_answer
from generator.pipeline import AskRequest
from retriever.errors import BadQuestion
from tests.generator.language_model import (
    Scripted,
    events,
    piece,
    served,
    settings,
    streams,
    streams_out,
    written,
)
from tests.generator.sample_index import KOREAN, settings_of
from tests.generator.test_pipeline import ANSWER, KEYWORDS

pytest_plugins = ["tests.generator.sample_index"]

UNUSED = Path("/nowhere")  # the index is open already


async def collected(index, request, given, **options):
    async with aclosing(stream_answer(index, request, given, **options)) as arriving:
        return [event async for event in arriving]


def streamed(index, question, *answers, **llm):
    """Ask a model that gives these answers; return what arrived."""
    given = settings_of(UNUSED, llm=settings(retries=0, **llm))

    async def ask():
        async with given.language_model(Scripted(answers).transport) as model:
            return await collected(index, given.request(question), given, model=model)

    return asyncio.run(ask())


def without_model(index, question, **request):
    return asyncio.run(collected(index, AskRequest(question, **request), settings_of(UNUSED)))


def kinds(arrived):
    """Return the kinds of the events but for steps, each run of one kind once."""
    listed = [event.kind for event in arrived if event.kind != "step"]
    return [kind for place, kind in enumerate(listed) if not place or listed[place - 1] != kind]


def data(arrived, kind):
    return [event.data for event in arrived if event.kind == kind]


def put_together(arrived):
    """Do as a reader does: keep the sentences, withdraw them, change their checks."""
    sentences = []
    for event in arrived:
        if event.kind == "restart":
            sentences = []
        elif event.kind == "sentence":
            assert event.data["index"] == len(sentences)
            sentences.append({name: value for name, value in event.data.items() if name != "index"})
        elif event.kind == "check":
            sentences[event.data["index"]] |= {"check": event.data["check"], "reasons": event.data["reasons"]}
    return [
        {name: value for name, value in sentence.items() if value or name != "reasons"}
        for sentence in sentences
    ]


def assert_adds_up(arrived):
    done = arrived[-1]
    assert done.kind == "done"
    assert put_together(arrived) == done.data["answer"]["sentences"]
    assert data(arrived, "keywords")[-1]["keywords"] == done.data["keywords"]
    assert data(arrived, "queries")[-1]["queries"] == done.data["queries"]
    found = data(arrived, "evidence")[-1]["hits"]
    assert [hit["passage_id"] for hit in found] == [hit["passage_id"] for hit in done.data["evidence"]]
    json.dumps([event.data for event in arrived])


def test_without_a_model_the_quoted_sentences_arrive_one_by_one(sample):
    arrived = without_model(sample, KOREAN)
    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence", "done"]
    assert_adds_up(arrived)
    assert data(arrived, "keywords")[0]["source"] == "statistics"
    assert [event.data["name"] for event in arrived if event.kind == "step"] == ["search", "quotation"]


def test_with_a_model_each_sentence_arrives_with_its_check(sample):
    arrived = streamed(sample, KOREAN, streams(*events(KEYWORDS)), streams(*events(ANSWER)))
    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence", "done"]
    assert_adds_up(arrived)
    assert data(arrived, "keywords")[0]["source"] == "model"
    assert [sentence["check"] for sentence in data(arrived, "sentence")] == [
        "supported",
        "supported",
        "unsupported",
        "unsupported",
    ]


# When events arrive


def serving(*behaviours):
    return served(streams_out(*events(KEYWORDS)), *behaviours)


def at_server(server, **llm):
    return settings_of(UNUSED, llm=settings(base_url=server.base_url, backoff_s=0, **llm))


def test_what_is_found_arrives_before_the_model_begins_and_sentences_while_it_writes(sample):
    go_on = threading.Event()
    text = json.dumps(ANSWER, ensure_ascii=False)
    middle = text.index("}", text.index('"body"')) + 1

    def behave(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for part in (text[:middle], text[middle:]):
            handler.wfile.write(written(piece(part)))
            handler.wfile.flush()
            assert go_on.wait(20)
        handler.wfile.write(written(piece(finish_reason="stop"), "[DONE]"))
        handler.close_connection = True

    async def ask(given):
        arrived = []
        async with aclosing(stream_answer(sample, given.request(KOREAN), given)) as arriving:
            async for event in arriving:
                arrived.append(event)
                if len(data(arrived, "sentence")) == 2:
                    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence"]
                    go_on.set()
        return arrived

    with serving(behave) as server:
        assert_adds_up(asyncio.run(ask(at_server(server))))


async def until(arriving, kind):
    return await anext(event async for event in arriving if event.kind == kind)


ENDLESS = [piece(json.dumps(ANSWER, ensure_ascii=False)[:-60]), *[piece(" ")] * 100_000]


@pytest.mark.parametrize("kind", ["step", "evidence", "sentence"])
def test_who_closes_the_stream_ends_the_models_work(sample, kind):
    async def ask(given):
        async with aclosing(stream_answer(sample, given.request(KOREAN), given)) as arriving:
            await until(arriving, kind)
            began = time.perf_counter()
        assert time.perf_counter() - began < 5
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with serving(streams_out(*ENDLESS, pause_s=0.01)) as server:
        asyncio.run(ask(at_server(server)))
        if len(server.bodies) == 2:
            assert server.closed.wait(10)


def test_who_is_cancelled_while_waiting_ends_the_models_work(sample):
    async def ask(given):
        begun = asyncio.Event()

        async def read():
            async with aclosing(stream_answer(sample, given.request(KOREAN), given)) as arriving:
                async for event in arriving:
                    if event.kind == "sentence":
                        begun.set()

        reading = asyncio.create_task(read())
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with serving(streams_out(*ENDLESS, pause_s=0.01)) as server:
        asyncio.run(ask(at_server(server)))
        assert server.closed.wait(10)
    assert len(server.bodies) == 2


# Answers that change


def test_a_repaired_answer_adds_up(sample):
    cut = json.dumps(ANSWER, ensure_ascii=False)[:-80]
    arrived = streamed(sample, KOREAN, *[streams(*events(said)) for said in (KEYWORDS, cut, ANSWER)])
    assert_adds_up(arrived)
    assert "restart" not in kinds(arrived)  # the second answer says the same


def test_a_repair_that_says_something_else_withdraws_what_was_read(sample):
    other = ANSWER | {"introduction": [{"text": "간호사의 이직을 다룬 논문이 있다.", "citations": [2]}]}
    cut = json.dumps(ANSWER, ensure_ascii=False)[:-80]
    arrived = streamed(sample, KOREAN, *[streams(*events(said)) for said in (KEYWORDS, cut, other)])
    assert_adds_up(arrived)


def test_where_the_model_dies_the_quotation_takes_the_place_of_what_was_read(sample):
    half = streams_out(*events(ANSWER)[:-40], pause_s=0.001, end=False)
    with serving(half) as server:
        arrived = asyncio.run(ask_all(sample, at_server(server, retries=0)))
    assert_adds_up(arrived)
    assert arrived[-1].data["answer"]["written_by"] == "extractive"
    (withdrawn,) = data(arrived, "restart")
    assert withdrawn["reason"] == "fallback"
    assert withdrawn["message"].startswith("extractive answer, the model failed: ")


async def ask_all(index, given, question=KOREAN):
    return await collected(index, given.request(question), given)


def test_an_answer_that_says_it_is_none_never_shows_what_it_does_not_keep(sample):
    nothing = ANSWER | {
        "introduction": [
            {"text": "주어진 본문에는 답이 없다.", "citations": []},
            {"text": "간호사의 이직 의도를 다룬 논문은 있다.", "citations": [1]},
        ],
        "body": [],
        "answered": False,
    }
    arrived = streamed(sample, KOREAN, streams(*events(KEYWORDS)), streams(*events(nothing)))
    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence", "done"]
    assert_adds_up(arrived)
    assert arrived[-1].data["answer"]["abstained"]


def test_an_error_is_raised_to_who_reads(sample):
    with pytest.raises(BadQuestion):
        without_model(sample, "")
