"""Answers as they arrive, over a real connection: in order, ended, whole, and given up with their reader."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.generator.language_model import events, streams_out
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, UNANSWERABLE_ENGLISH
from tests.server.running import START_S as WAIT_S
from tests.server.running import TOOL_CALLS, events_of, message, post_and_leave, serving_with_model, wait_for

STREAM = {"Accept": "text/event-stream"}


def streamed(url, **call):
    """Ask, and return the headers and the events of the answer."""
    with httpx.stream("POST", f"{url}/api/v1/ask", json=call, headers=STREAM, timeout=WAIT_S) as answer:
        assert answer.status_code == 200, answer.read()
        return answer.headers, list(events_of(answer.iter_lines()))


def sentences_of(found):
    """Return the sentences at the end of a stream."""
    sentences: dict[int, dict[str, object]] = {}
    for event in found:
        if event.name == "restart":
            sentences = {}
        elif event.name == "sentence":
            sentences[event.data["index"]] = {"hints": [], **event.data}
        elif event.name == "check":
            sentences[event.data["index"]] |= {key: event.data[key] for key in ("check", "hints")}
    return list(sentences.values())


@pytest.mark.parametrize("question", [KOREAN, ENGLISH, UNANSWERABLE_ENGLISH, "🙂"])
def test_a_stream_is_numbered_ended_once_and_says_what_the_plain_answer_says(unlimited, question):
    headers, found = streamed(unlimited.url, question=question)
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    names = [event.name for event in found]
    assert [event.number for event in found] == list(range(1, len(found) + 1))
    assert [name for name in names if name in {"done", "error"}] == [names[-1]] == ["done"]
    assert names.index("queries") < names.index("evidence") < names.index("done")
    plain = unlimited.post("/api/v1/ask", json={"question": question}).json()
    done = found[-1].data
    assert {**done, "milliseconds": 0} == {**plain, "milliseconds": 0}
    assert done["index"] == NAME
    answer = [{"hints": [], "index": at, **each} for at, each in enumerate(done["answer"]["sentences"])]
    assert sentences_of(found) == answer
    evidence = [event.data["hits"] for event in found if event.name == "evidence"][-1]
    assert [hit["passage_id"] for hit in evidence] == [hit["passage_id"] for hit in plain["evidence"]]
    cited = {each for sentence in answer for each in sentence["citations"]}
    assert cited <= {hit["passage_id"] for hit in evidence}
    assert done["answer"]["abstained"] is (question in {UNANSWERABLE_ENGLISH, "🙂"})


def test_questions_at_once_get_the_answers_that_they_get_alone(unlimited):
    questions = [KOREAN, ENGLISH, UNANSWERABLE_ENGLISH]
    alone = [streamed(unlimited.url, question=question)[1][-1].data["answer"] for question in questions]
    with ThreadPoolExecutor(30) as threads:
        found = threads.map(lambda question: streamed(unlimited.url, question=question)[1], questions * 10)
    assert [events[-1].data["answer"] for events in found] == alone * 10


SLOWLY = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
KEYWORDS = streams_out(*events({"ko": ["열폭주"], "en": ["thermal runaway", "cell"]}))
ASKED = {"question": ENGLISH}
CHAT = {"model": NAME, "messages": [{"role": "user", "content": ENGLISH}]}


def tool(name, **meta):
    return message("tools/call", {"name": name, "arguments": ASKED, "_meta": meta})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "call", "headers"),
    [
        ("/api/v1/ask", ASKED, STREAM),
        ("/api/v1/ask", ASKED, {}),
        ("/v1/chat/completions", CHAT, {}),
        ("/v1/chat/completions", CHAT | {"stream": True}, {}),
        ("/mcp", tool("ask"), TOOL_CALLS),
        ("/mcp", tool("ask"), TOOL_CALLS | {"MCP-Protocol-Version": "2025-06-18"}),
        ("/mcp", tool("find_papers", progressToken=1), TOOL_CALLS),
    ],
)
def test_a_reader_that_leaves_ends_the_models_work(writing_slowly, path, call, headers):
    server, model = writing_slowly
    is_tool = path == "/mcp"
    model.meet(*([] if is_tool else [KEYWORDS]), SLOWLY)
    asked = model.begun if is_tool else model.second
    post_and_leave(f"{server.url}{path}", asked, json=call, headers=headers)
    assert model.closed.wait(WAIT_S)
    assert server.get("/healthz").status_code == 200
    assert "Traceback" not in server.log.read_text()


@pytest.fixture(scope="module")
def writing_slowly(sample_home, tmp_path_factory):
    """Serve the sample with a model, for all tests of readers who leave."""
    with serving_with_model(sample_home, tmp_path_factory.mktemp("slow"), server__asks_per_minute=0) as both:
        yield both


IN_AN_HOUR = streams_out(*events({"title": "x" * 30_000}), pause_s=0.3)


@pytest.mark.slow
def test_an_answer_that_takes_too_long_ends_with_an_error(sample_home, tmp_path):
    with serving_with_model(sample_home, tmp_path, IN_AN_HOUR, server__ask_s=3) as (server, model):
        # However slow the machine is, the model is asked within the time once the index is open.
        _, found = wait_for(lambda: streamed(server.url, question=ENGLISH), lambda _: model.begun.is_set())
        assert (found[-1].name, found[-1].data["code"]) == ("error", "too-slow")
        assert model.closed.wait(WAIT_S)
        plain = server.post("/api/v1/ask", json={"question": ENGLISH})
        assert plain.json() == found[-1].data
