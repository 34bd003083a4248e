"""Chat completions in OpenAI's form: the official client against a real server, with and without a model."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import openai
import pytest

from tests.generator.language_model import events, streams_out
from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.server.running import START_S, post_and_leave, serving_with_model

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


def test_chat_programs_own_requests_are_answered_without_a_search(served):
    text, noted, _ = whole(served.url, asks(TITLE_TASK))
    assert json.loads(text) == {"title": "rice and methane"}
    assert noted == []
    assert streamed(served.url, asks(TITLE_TASK))[0] == text


def test_an_image_in_an_earlier_turn_is_ignored(served):
    image = {"type": "image_url", "image_url": {"url": "x"}}
    shown = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}
    text, noted, _ = whole(served.url, [shown, {"role": "assistant", "content": "A plot."}, *asks(ENGLISH)])
    assert text
    assert noted


@pytest.mark.parametrize(
    ("earlier", "question", "said"),
    [
        (
            "Does alternate wetting and drying lower methane from paddies?",
            "Does it lower yields?",
            "searched for",
        ),
        ("논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄어드는가?", "그 방법의 수량은?", "알림"),
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


@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("/v1/chat/completions", {"stream": False}),
        ("/v1/chat/completions", {"stream": True}),
        ("/api/v1/ask", {"question": ENGLISH}),
    ],
)
def test_a_reader_that_leaves_ends_the_models_work(of_all, path, call):
    server, model = of_all
    model.meet(*answers(KEYWORDS), streams_out(*events({"title": "x" * 30_000}), pause_s=0.05))
    chat = {} if "question" in call else {"model": NAME, "messages": asks(ENGLISH)}
    headers = {"Accept": "text/event-stream, application/json"}
    post_and_leave(f"{server.url}{path}", model.second, json=chat | call, headers=headers)
    assert model.closed.wait(START_S)
    assert server.get("/healthz").status_code == 200
    assert "Traceback" not in server.log.read_text()
