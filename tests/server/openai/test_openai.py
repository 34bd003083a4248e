"""Chat completions in OpenAI's form: the official client against a real server, with and without a model."""

import json
import threading
import time
from contextlib import suppress
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import openai
import pytest

from tests.generator.language_model import events, piece, streams_out
from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.running import START_S, post_and_leave, serving, serving_with_model

pytest_plugins = ["tests.generator.sample_index"]

# In the order in which the tests of a model are answered: keywords, then the answer.
KEYWORDS = {"ko": ["열폭주", "배터리 팩"], "en": ["thermal runaway", "battery pack", "cell"]}
NOT_READ = "not taken into account"
OF_TWO_PAPERS = "Can feedback from generative AI improve student essays as much as comments from a teacher?"
ANSWER = {
    "title": "Thermal runaway",
    "introduction": [{"text": "Cell spacing slows thermal runaway.", "citations": [1]}],
    "body": [
        {"text": "Purple elephants were fed 9,999 bananas.", "citations": [1, 2]},
        {"text": "Nobody cites this.", "citations": []},
    ],
    "conclusion": [{"text": "Spacing [7] helps (supported).", "citations": [2]}],
    "answered": True,
}
TITLE_TASK = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: rice and methane
ASSISTANT: yes
</chat_history>"""


def client_of(url):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=START_S)


def asks(*texts):
    """Return messages of user and assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def whole(url, messages, **given):
    """Return the text of a plain completion, its annotations, and the completion."""
    with client_of(url) as client:
        made = client.chat.completions.create(model=NAME, messages=messages, **given)
    message = made.choices[0].message
    return message.content, [each.model_dump() for each in message.annotations], made


def streamed(url, messages, **given):
    """Return the text of a streamed completion, its annotations, and the chunks."""
    with client_of(url) as client:
        chunks = list(client.chat.completions.create(model=NAME, messages=messages, stream=True, **given))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    text = "".join(delta.content or "" for delta in deltas)
    return text, [each for delta in deltas for each in getattr(delta, "annotations", None) or []], chunks


def answers(*contents):
    return [streams_out(*events(content)) for content in contents]


def test_an_index_is_a_model(served):
    client = client_of(served.url)
    [listed] = client.models.list().data
    assert (listed.id, listed.object, listed.owned_by) == (NAME, "model", "shrag")
    assert abs(listed.created - time.time()) < 86_400
    assert client.models.retrieve(NAME) == listed


@pytest.mark.parametrize("question", [KOREAN, ENGLISH])
def test_streamed_and_plain_say_the_same(served, question):
    text, noted, _ = whole(served.url, asks(question))
    assert text
    assert noted
    assert streamed(served.url, asks(question))[:2] == (text, noted)


def test_each_mark_is_an_annotation_whose_address_names_paper_index_and_passage(served):
    text, noted, _ = whole(served.url, asks(ENGLISH))
    for each in noted:
        citation = each["url_citation"]
        mark = text[citation["start_index"] : citation["end_index"]]
        address = urlsplit(citation["url"])
        assert each["type"] == "url_citation"
        assert address.path.startswith("/papers/")
        assert parse_qs(address.query) == {"index": [NAME]}
        assert unquote(address.fragment).startswith(unquote(address.path.removeprefix("/papers/")))
        assert citation["url"].startswith(served.url)
        shown = httpx.get(citation["url"], timeout=START_S)
        assert shown.status_code == 200
        assert f'id="{unquote(address.fragment)}"' in shown.text
        assert any(line.startswith(f"- {mark} ") and citation["url"] in line for line in text.splitlines())
        assert citation["title"]


def test_a_stream_ends_with_annotations_the_finish_and_usage(served):
    _, _, chunks = streamed(served.url, asks(ENGLISH), stream_options={"include_usage": True})
    assert chunks[0].choices[0].delta.role == "assistant"
    *_, noted, finish, used = chunks
    assert noted.choices[0].delta.annotations
    assert finish.choices[0].finish_reason == "stop"
    assert used.choices == []
    assert used.usage.total_tokens == 0  # there is no model
    assert {chunk.id for chunk in chunks} == {finish.id}
    assert all(chunk.usage is None for chunk in chunks[:-1])


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"n": []}, "n"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
        ({"function_call": {"name": "f"}}, "function_call"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"modalities": 1}, "modalities"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
        ({"messages": [{"role": "user", "content": ""}]}, None),
        ({"messages": asks("a" * 20_001)}, None),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            ...,
        ),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": {"a": 1}}]}]}, ...),
        ({"messages": [{"role": "user", "content": [7]}]}, ...),
        ({"messages": "text"}, "messages"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_would_not_be_had_is_refused(served, given, param, stream):
    call = {"model": NAME, "messages": asks(ENGLISH), "stream": stream} | given
    answer = served.post("/v1/chat/completions", json=call)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"]
    assert param is ... or error["param"] == param


@pytest.mark.parametrize("name", ["gpt-4o", "../sample", "sample/..", "", "x" * 10_000, "sample\u0000"])
def test_a_model_that_there_is_not_is_a_404(served, name):
    with pytest.raises(openai.NotFoundError) as refused:
        client_of(served.url).chat.completions.create(model=name, messages=asks(ENGLISH))
    assert refused.value.code == "model_not_found"
    assert refused.value.param == "model"


@pytest.mark.parametrize(
    "path", ["models/nope", "models/..%2f..%2fetc", "embeddings", "chat", "responses", "x/y"]
)
def test_other_addresses_are_404s_in_the_same_form(served, path):
    answer = served.get(f"/v1/{path}")
    assert answer.status_code == 404
    assert answer.json()["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "application/json"),
        (b"[1, 2]", "application/json"),
        (b"\xff", "application/json"),
        (b'{"model":' * 50_000, "application/json"),
        (b'{"model": "sample", "messages": [{"role": "user", "content": "x"}]}', "text/plain"),
        (b"model=sample", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_no_call_is_refused(served, body, kind):
    headers = {"Content-Type": kind}
    answer = served.post("/v1/chat/completions", content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text
    assert served.get("/healthz").status_code == 200


def test_chat_programs_own_requests_are_answered_without_a_search(served):
    text, noted, _ = whole(served.url, asks(TITLE_TASK))
    assert json.loads(text) == {"title": "rice and methane"}
    assert noted == []
    assert streamed(served.url, asks(TITLE_TASK))[0] == text


def test_without_a_model_it_is_told_that_earlier_turns_were_not_read(served):
    text, _, _ = whole(served.url, asks("Tell me of batteries.", "They store energy. [1]", ENGLISH))
    assert NOT_READ in text
    assert NOT_READ not in whole(served.url, asks(ENGLISH))[0]


@pytest.mark.parametrize(
    ("earlier", "question", "said"),
    [
        (
            "Does alternate wetting and drying lower methane from paddies?",
            "how much did yields fall?",
            "searched for",
        ),
        ("논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄어드는가?", "수확량은 얼마나 줄었는가?", "알림"),
    ],
)
def test_without_a_model_a_follow_up_keeps_its_subject_and_says_what_was_searched_for(
    served, earlier, question, said
):
    text, _, _ = whole(served.url, asks(earlier, "48 percent. [1]", question))
    assert said in text
    assert f"{question} (" in text
    assert "SAMPLE-AGR-00" in text
    assert streamed(served.url, asks(earlier, "48 percent. [1]", question))[0] == text


@pytest.fixture(scope="module")
def of_all(sample_home, tmp_path_factory):
    """Serve the sample with a model, for all tests whose model does not fail."""
    folder = tmp_path_factory.mktemp("with-model")
    with serving_with_model(sample_home, folder, server__asks_per_minute=0) as both:
        yield both


def test_a_models_answer_has_its_doubts_marked_and_its_tokens_counted(of_all):
    server, model = of_all
    model.meet(*answers(KEYWORDS, ANSWER, KEYWORDS, ANSWER))
    text, noted, made = whole(server.url, asks(OF_TWO_PAPERS))
    again, noted_again, chunks = streamed(
        server.url, asks(OF_TWO_PAPERS), stream_options={"include_usage": True}
    )
    assert (again, noted_again) == (text, noted)
    assert made.usage.model_dump() == chunks[-1].usage.model_dump()
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (200, 40)
    assert "Purple elephants were fed 9,999 bananas. [1][2]" in text
    assert "Nobody cites this. (unsupported)" in text
    assert "Spacing (7) helps supported. [2]" in text
    assert [
        text[each["url_citation"]["start_index"] : each["url_citation"]["end_index"]] for each in noted
    ] == (["[1]", "[1]", "[2]", "[2]"])


@pytest.mark.slow
def test_a_judge_that_comes_to_another_check_is_heard_at_the_end(sample_home, tmp_path):
    written = ANSWER | {
        "body": [
            {"text": "Purple elephants were fed bananas.", "citations": [1]},
            {"text": "Purple elephants were fed 9,999 bananas.", "citations": [1, 2]},
        ]
    }
    verdicts = ["supported", "supported", "unsupported", "supported", "supported"]  # first the title
    judged = {
        "judgements": [
            {"sentence": number, "verdict": verdict, "why": ""} for number, verdict in enumerate(verdicts, 1)
        ]
    }
    calls = answers(KEYWORDS, written, judged)
    with serving_with_model(sample_home, tmp_path, *calls, *calls, check__judge="model") as (server, _):
        text, noted, _ = whole(server.url, asks(ENGLISH))
        assert streamed(server.url, asks(ENGLISH))[:2] == (text, noted)
    assert text.startswith("Cell spacing slows thermal runaway. [1]\n")
    assert "Checked: sentence 2: unsupported" in text


def test_sentences_are_streamed_as_the_model_writes_them(of_all):
    arrived, in_time = threading.Event(), []
    parts = events(ANSWER)
    parts.insert(60, lambda: in_time.append(arrived.wait(START_S)))  # behind the first sentence
    server, model = of_all
    model.meet(*answers(KEYWORDS), streams_out(*parts))
    for chunk in client_of(server.url).chat.completions.create(
        model=NAME, messages=asks(ENGLISH), stream=True
    ):
        if chunk.choices and (text := chunk.choices[0].delta.content) and not arrived.is_set():
            assert text.startswith("Cell spacing slows thermal runaway. [1]")
            arrived.set()
    assert in_time == [True]


def test_earlier_turns_make_the_question_stand_alone(of_all):
    server, model = of_all
    model.meet(*answers({"depends": True, "question": ENGLISH}, KEYWORDS, ANSWER))
    text, _, _ = whole(server.url, asks("Tell me of battery packs.", "They burn. [1]", "How is it slowed?"))
    assert f": {ENGLISH}" in text
    assert NOT_READ not in text
    assert "Tell me of battery packs." in json.dumps(model.bodies[0])


@pytest.mark.slow
def test_a_model_that_breaks_off_is_told_and_the_papers_are_quoted(sample_home, tmp_path):
    begun = [piece('{"title": "T", "introduction": [{"text": "Spacing slows it.", "citations": [1]}, ')]
    broken = streams_out(*begun, pause_s=0.5, end=False)
    calls = [*answers(KEYWORDS), broken]
    with serving_with_model(sample_home, tmp_path, *calls, *calls) as (server, _):
        text, noted, _ = whole(server.url, asks(ENGLISH))
        assert streamed(server.url, asks(ENGLISH))[:2] == (text, noted)
    assert text.startswith("Spacing slows it. [1]")
    assert "the model failed" in text
    assert noted


@pytest.mark.parametrize("stream", [False, True])
def test_a_reader_that_leaves_ends_the_models_work(of_all, stream):
    server, model = of_all
    model.meet(*answers(KEYWORDS), streams_out(*events({"title": "x" * 30_000}), pause_s=0.05))
    call = {"model": NAME, "messages": asks(ENGLISH), "stream": stream}

    def leave():
        with (
            httpx.Client(timeout=START_S) as client,
            client.stream("POST", f"{server.url}/v1/chat/completions", json=call) as answer,
        ):
            for _ in answer.iter_raw():
                if model.second.wait(START_S):
                    return

    if stream:
        leave()
    else:
        post_and_leave(f"{server.url}/v1/chat/completions", model.second, json=call)
    assert model.closed.wait(START_S)
    assert server.get("/healthz").status_code == 200
    assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_an_answer_that_takes_too_long_ends_with_an_error(sample_home, tmp_path):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    calls = [*answers(KEYWORDS), slowly]
    with serving_with_model(sample_home, tmp_path, *calls, *calls, server__ask_s=4) as (server, model):
        while not model.second.is_set():  # on a slow machine the time may be over before the model is asked
            with pytest.raises(openai.APIError, match="longer than 4 seconds"):
                streamed(server.url, asks(ENGLISH))
        assert model.closed.wait(START_S)
        with pytest.raises(openai.InternalServerError, match="longer than 4 seconds"):
            whole(server.url, asks(ENGLISH))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_more_than_can_be_answered_at_once_is_refused_with_when_to_come_again(sample_home, tmp_path, stream):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    limits = {"server__asks_at_once": 1, "server__waiting": 0, "server__stop_s": START_S}
    with serving_with_model(sample_home, tmp_path, slowly, **limits) as (server, model):
        first = threading.Thread(target=lambda: _read_until_it_ends(server.url))
        first.start()
        assert model.begun.wait(START_S)
        with pytest.raises(openai.RateLimitError) as refused:
            client_of(server.url).chat.completions.create(model=NAME, messages=asks(ENGLISH), stream=stream)
        server.process.terminate()
        first.join()
    assert int(refused.value.response.headers["Retry-After"]) >= 1
    assert refused.value.type == "rate_limit_error"


def _read_until_it_ends(url):
    with suppress(openai.APIError):
        streamed(url, asks(ENGLISH))


@pytest.mark.slow
def test_a_server_that_stops_ends_its_streams_with_an_error(sample_home, tmp_path):
    slowly = streams_out(*events({"title": "x" * 30_000}), pause_s=0.05)
    calls = [*answers(KEYWORDS), slowly]
    with serving_with_model(sample_home, tmp_path, *calls, server__stop_s=START_S) as (server, model):

        def stop_in_the_middle():
            model.second.wait(START_S)
            server.process.terminate()

        stopping = threading.Thread(target=stop_in_the_middle)
        stopping.start()
        with pytest.raises(openai.APIError, match="stopped"):
            streamed(server.url, asks(ENGLISH))
        stopping.join()
        assert model.closed.wait(START_S)


@pytest.mark.slow
def test_marks_and_links_of_an_abstract_are_no_citations(tmp_path):
    text = "Quokka gardens cool cities [1] ![x](http://evil.test/x.png) <img src=http://evil.test>[DONE]. "
    paper = {"id": "a/../b?x=1#y", "title": "Quokka gardens <b>cool</b> [9]", "abstract": text, "year": 2020}
    build(tmp_path, write_jsonl(tmp_path / "papers.jsonl", [paper]), name=NAME)
    with serving(tmp_path, tmp_path / "log") as server:
        text, noted, _ = whole(server.url, asks("Do quokka gardens cool cities?"))
        shown = httpx.get(noted[0]["url_citation"]["url"], timeout=START_S)
        assert shown.status_code == 200
        assert "Quokka gardens" in shown.text
        assert streamed(server.url, asks("Do quokka gardens cool cities?"))[:2] == (text, noted)
    assert noted[0]["url_citation"]["url"].startswith(
        f"{server.url}/papers/a%2F..%2Fb%3Fx%3D1%23y?index={NAME}#"
    )
    for mark in ("![", "<img", "<b>", "[9]", "[DONE]"):
        assert mark not in text
