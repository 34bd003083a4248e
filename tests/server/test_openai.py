"""Chat completions in OpenAI's form: the official client against a real server, with and without a model.

Refused calls are in `refused_calls.jsonl`.
"""

import json
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import openai
import pytest

from tests.generator.language_model import events, streams_out
from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.server.running import START_S, serving_with_model

# In the order in which the tests of a model are answered: keywords, then the answer.
KEYWORDS = {"ko": ["열폭주", "배터리 팩"], "en": ["thermal runaway", "battery pack", "cell"]}
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


def completion(url, *texts, **given):
    """Ask, with texts of user and assistant in turn; return what the official client makes of the answer."""
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=START_S) as client:
        made = client.chat.completions.create(model=NAME, messages=messages, **given)
        return list(made) if given.get("stream") else made


def answer(url, *texts):
    """Return the text of an answer and its annotations, plain and streamed alike, and both completions."""
    made = completion(url, *texts)
    chunks = completion(url, *texts, stream=True, stream_options={"include_usage": True})
    message = made.choices[0].message
    noted = [each.model_dump() for each in message.annotations]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == message.content
    assert [each for delta in deltas for each in getattr(delta, "annotations", None) or []] == noted
    return message.content, noted, made, chunks


@pytest.mark.parametrize("question", [KOREAN, ENGLISH])
def test_an_answer_is_the_same_streamed_and_its_marks_lead_to_passages(served, question):
    text, noted, _, chunks = answer(served.url, question)
    assert noted
    for each in noted:
        citation = each["url_citation"]
        mark = text[citation["start_index"] : citation["end_index"]]
        address = urlsplit(citation["url"])
        assert each["type"] == "url_citation"
        assert citation["url"].startswith(served.url)
        assert parse_qs(address.query) == {"index": [NAME]}
        assert any(line.startswith(f"- {mark} ") and citation["url"] in line for line in text.splitlines())
        shown = served.get(citation["url"].removeprefix(served.url))
        assert f'id="{unquote(address.fragment)}"' in shown.text
        assert citation["title"]

    assert chunks[0].choices[0].delta.role == "assistant"
    *_, with_notes, finish, used = chunks
    assert with_notes.choices[0].delta.annotations
    assert finish.choices[0].finish_reason == "stop"
    assert (used.choices, used.usage.total_tokens) == ([], 0)  # there is no model
    assert {chunk.id for chunk in chunks} == {finish.id}
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_chat_programs_own_requests_are_answered_without_a_search(served):
    text, noted, *_ = answer(served.url, TITLE_TASK)
    assert (json.loads(text), noted) == ({"title": "rice and methane"}, [])


def test_an_image_in_an_earlier_turn_is_ignored(served):
    image = {"type": "image_url", "image_url": {"url": "x"}}
    shown = [{"type": "text", "text": "What is this?"}, image]
    text, noted, *_ = answer(served.url, shown, "A plot.", ENGLISH)
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
    text, *_ = answer(served.url, earlier, "48 percent. [1]", question)
    assert said in text
    assert f"{question} (" in text
    assert "SAMPLE-AGR-00" in text


def test_a_models_answer_has_its_doubts_marked_and_its_tokens_counted(sample_home, tmp_path):
    replies = [streams_out(*events(content)) for content in (KEYWORDS, ANSWER) * 2]
    with serving_with_model(sample_home, tmp_path, *replies) as (server, _):
        text, noted, made, chunks = answer(server.url, OF_TWO_PAPERS)
    assert made.usage.model_dump() == chunks[-1].usage.model_dump()
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (200, 40)
    assert "Purple elephants were fed 9,999 bananas. [1][2]" in text
    assert "Nobody cites this. (unsupported)" in text
    assert "Spacing (7) helps supported. [2]" in text
    places = [each["url_citation"] for each in noted]
    marks = [text[place["start_index"] : place["end_index"]] for place in places]
    assert marks == ["[1]", "[1]", "[2]", "[2]"]
