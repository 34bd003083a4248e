"""An answer as it arrives: what is told, in which order, and that it adds up to the answer."""

import asyncio
import json
import threading
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from generator.answer_events import stream_answer
from generator.pipeline import AskRequest
from generator.tracing import StreamEvent
from generator.ways import make_request
from indexer.settings import CheckSettings, IndexerSettings
from retriever.index import open_index
from tests.generator.language_model import (
    PATIENCE_S,
    Scripted,
    events,
    piece,
    served,
    settings,
    streams,
    streams_out,
    written,
)
from tests.generator.sample_index import KOREAN, NAME, settings_of
from tests.generator.test_pipeline import ANSWER, KEYWORDS

UNUSED = Path("/nowhere")  # the index is open already


async def collected(index, request, given, **options):
    async with aclosing(stream_answer(index, request, given, **options)) as arriving:
        return [event async for event in arriving]


def streamed(index, question, *answers, turns=(), **llm):
    """Ask a model that gives these answers; return what arrived."""
    given = settings_of(UNUSED, llm=settings(retries=0, **llm))

    async def ask():
        async with given.language_model(Scripted(answers).transport) as model:
            return await collected(index, make_request(given, question, turns=turns), given, model=model)

    return asyncio.run(ask())


def kinds(arrived):
    """Return the kinds of the events but for steps, each run of one kind once."""
    listed = [event.kind for event in arrived if event.kind != "step"]
    return [kind for place, kind in enumerate(listed) if not place or listed[place - 1] != kind]


def data(arrived, kind):
    return [event.data for event in arrived if event.kind == kind]


def put_together(arrived):
    """Do as a reader does: keep the sentences, withdraw them, change their checks."""
    sentences: list[dict[str, Any]] = []
    for event in arrived:
        if event.kind == "restart":
            sentences = []
        elif event.kind == "sentence":
            assert event.data["index"] == len(sentences)
            sentences.append({name: value for name, value in event.data.items() if name != "index"})
        elif event.kind == "check":
            sentences[event.data["index"]] |= {"check": event.data["check"], "hints": event.data["hints"]}
    return sentences


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
    arrived = asyncio.run(collected(sample, AskRequest(KOREAN), settings_of(UNUSED)))
    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence", "done"]
    assert_adds_up(arrived)
    assert data(arrived, "keywords")[0]["strategy"]["origin"] == "statistics"
    assert [event.data["name"] for event in arrived if event.kind == "step"] == ["search", "quotation"]


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
            assert go_on.wait(PATIENCE_S)
        handler.wfile.write(written(piece(finish_reason="stop"), "[DONE]"))
        handler.close_connection = True

    async def ask(given):
        arrived = []
        async with aclosing(stream_answer(sample, make_request(given, KOREAN), given)) as arriving:
            async for event in arriving:
                arrived.append(event)
                if len(data(arrived, "sentence")) == 2:
                    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence"]
                    go_on.set()
        return arrived

    with serving(behave) as server:
        assert_adds_up(asyncio.run(ask(at_server(server))))


async def until(arriving, kind):
    # Without a generator around it: dropped unfinished, it would be closed by one more task, some time later.
    async for event in arriving:
        if event.kind == kind:
            return event
    raise AssertionError(f"no event is of the kind {kind}")


ENDLESS = [piece(json.dumps(ANSWER, ensure_ascii=False)[:-60]), *[piece(" ")] * 100_000]


@pytest.mark.parametrize("kind", ["step", "evidence", "sentence"])
def test_who_closes_the_stream_ends_the_models_work(sample, kind):
    async def ask(given):
        async with aclosing(stream_answer(sample, make_request(given, KOREAN), given)) as arriving:
            await until(arriving, kind)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with serving(streams_out(*ENDLESS, pause_s=0.01)) as server:
        asyncio.run(ask(at_server(server)))
        if len(server.bodies) == 2:
            assert server.closed.wait(PATIENCE_S)


def test_where_the_model_dies_the_quotation_takes_the_place_of_what_was_read(sample):
    read = threading.Event()

    async def ask(given):
        arrived = []
        async with aclosing(stream_answer(sample, make_request(given, KOREAN), given)) as arriving:
            async for event in arriving:
                arrived.append(event)
                if event.kind == "sentence":
                    read.set()
        return arrived

    with serving(streams_out(*events(ANSWER)[:-40], end=False, until=read)) as server:
        arrived = asyncio.run(ask(at_server(server, retries=0)))
    assert_adds_up(arrived)
    assert arrived[-1].data["answer"]["written_by"] == "extractive"
    (withdrawn,) = data(arrived, "restart")
    assert withdrawn["reason"] == "fallback"
    assert withdrawn["message"].startswith("extractive answer, the model failed: ")


def test_a_judge_changes_a_check_before_the_end(sample_home):
    # The first one is of the title.
    given = ("supported", ""), ("unsupported", "not said"), ("supported", ""), ("unsupported", "98765%")
    judged = [{"sentence": n, "verdict": verdict, "why": why} for n, (verdict, why) in enumerate(given, 1)]
    replies = (KEYWORDS, ANSWER, {"judgements": judged})
    check = CheckSettings(judge="model")
    with open_index(IndexerSettings(home=sample_home, check=check), NAME) as index:
        arrived = streamed(index, KOREAN, *[streams(*events(said)) for said in replies])
    assert kinds(arrived) == ["keywords", "queries", "evidence", "sentence", "check", "done"]
    assert_adds_up(arrived)
    assert data(arrived, "check")[0] == {
        "index": 0,
        "check": "unsupported",
        "hints": [{"code": "judge", "values": {"text": "not said"}}],
    }


def test_a_slow_reader_is_told_the_newest_and_nothing_is_kept_for_it(sample):
    other = ANSWER | {"introduction": [{"text": "이 답은 끝나지 않는다.", "citations": [1]}]}
    dies = streams_out(*events(other)[:-9], *[piece(" ")] * 2_000, end=False)

    async def ask(given):
        arrived: list[StreamEvent] = []
        async with aclosing(stream_answer(sample, make_request(given, KOREAN), given)) as arriving:
            async for event in arriving:
                if not arrived:  # the model dies and answers meanwhile
                    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
                arrived.append(event)
        return arrived

    with serving(dies, streams_out(*events(ANSWER))) as server:
        arrived = asyncio.run(ask(at_server(server, retries=1)))
    assert_adds_up(arrived)
    assert "restart" not in kinds(arrived)


TEXTS = st.sampled_from(
    [
        json.dumps(ANSWER, ensure_ascii=False),
        json.dumps(ANSWER | {"answered": False}),
        json.dumps(dict(reversed(ANSWER.items()))),
        json.dumps(ANSWER | {"introduction": [{"text": 'A "{" and \\ "}".', "citations": [2, 1, 2, 99]}]}),
        json.dumps(ANSWER | {"body": [{"text": "One.", "citations": [n]} for n in range(12)]}),
        json.dumps(ANSWER | {"body": [{"text": None}, [], 7]}),
        '{"introduction": [{"text": "Twice.", "citations": [1]}], "introduction": ' + json.dumps(ANSWER)[1:],
        '[[[{}]]] } ] \\ " no',
        '{"body": [{"text": "Half \\ud800.", "citations": [1e400]}]}',
    ]
)
AROUND = st.sampled_from(["", '<think>{"body": [{}]} </think>', "```json\n", "Here {it} is: ", "} ] "])


@st.composite
def replies(draw):
    """Draw what a model writes: wrapped, twice, cut off, and in pieces of any size."""
    text = draw(AROUND) + draw(TEXTS) + draw(st.sampled_from(["", "```"]))
    text += draw(st.just("") | TEXTS)
    text = text[: draw(st.integers(0, len(text)) | st.just(len(text)))]
    size = draw(st.integers(1, 40))
    pieces = [piece(text[start : start + size]) for start in range(0, len(text), size)]
    return [*pieces, piece(finish_reason="stop"), "[DONE]"]


@settings_of_hypothesis(max_examples=60, deadline=None)
@given(first=replies(), second=replies())
def test_what_arrives_adds_up_whatever_the_model_writes(sample, first, second):
    arrived = streamed(sample, KOREAN, streams(*events(KEYWORDS)), streams(*first), streams(*second))
    assert_adds_up(arrived)
