"""What chat programs ask for themselves is told from readers' questions, and answered without a search."""

import asyncio
import json

import pytest

from generator.housekeeping import answer_housekeeping, find_housekeeping, question_in
from generator.llm import LanguageModel
from generator.request import Turn
from tests.generator.language_model import Scripted, says, settings

QUESTION = "신규 간호사의 회복탄력성은 이직 의도와 어떻게 연결되는가?"
HISTORY = f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: 회복탄력성이 높을수록 낮다 [1].\n</chat_history>"
LINES = f"User: {QUESTION}\nAI: 회복탄력성이 높을수록 낮다 [1]."


def below_headings(what, form, *, history=HISTORY):
    """Write a request as Open WebUI does, in other words."""
    return (
        f"### Task:\n{what}\n\n### Guidelines:\n- Use the language of the chat.\n\n"
        f"### Output:\nJSON format: {form}\n\n### Chat History:\n{history}"
    )


REQUESTS = {
    "title": below_headings("Write a concise title.", '{ "title": "your title" }'),
    "follow_ups": below_headings("Suggest questions to ask next.", '{ "follow_ups": ["One?", "Two?"] }'),
    "queries": below_headings("Decide whether to search.", '{\n  "queries": ["query1"]\n}'),
    "text": below_headings("Go on with `<text>`.", '{ "text": "<your_completion>" }')
    + "\n<type>Search Query</type>\n<text>간호사의</text>",
    "tags": f'### 작업:\n주제를 고르세요.\n### 출력:\n형식: {{ "tags": ["주제"] }}\n### 대화:\n{HISTORY}',
}
TITLES = {
    "completion": [
        Turn(
            "user",
            "Provide a concise, 5-word-or-less title for the conversation. Only return the title.\n\n"
            f"Conversation:\n{LINES}",
        )
    ],
    "by a system": [
        Turn("system", "Generate a title that captures the essence of the conversation.\n- Maximum 10 words"),
        Turn("user", f"user: {QUESTION}\nassistant: 낮다 [1]."),
    ],
    "by a Korean system": [
        Turn("system", "대화 제목을 짓는다. 10자 이내."),
        Turn("user", f"user: {QUESTION}\nassistant: 낮다 [1]."),
    ],
    "in French": [Turn("user", f"Donnez un titre de 5 mots maximum.\n\nConversation:\n{LINES}")],
    "summary": [Turn("user", f"Summarize the lines of conversation.\n\nNew lines:\n{LINES}\n\nNew summary:")],
}


def found(messages):
    asked = find_housekeeping(messages)
    assert asked is not None
    return asked


def fixed(messages):
    return asyncio.run(answer_housekeeping(found(messages), None))


@pytest.mark.parametrize("key", REQUESTS)
def test_what_is_asked_for_as_json_is_recognised(key):
    asked = found([Turn("user", REQUESTS[key])])
    assert asked.key == key
    assert asked.conversation == (
        Turn("user", QUESTION),
        Turn("assistant", "회복탄력성이 높을수록 낮다 [1]."),
    )


@pytest.mark.parametrize("program", TITLES)
def test_what_is_asked_for_as_text_is_recognised(program):
    asked = found(TITLES[program])
    assert asked.key is None
    assert asked.conversation[0] == Turn("user", QUESTION)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"<context>### Task: {LINES}</context>\n{QUESTION}", QUESTION),
        (f"### Task:\nRespond.\n<context>…</context>\n<user_query>\n{QUESTION}\n</user_query>", QUESTION),
        (f"### Task:\nRespond.\n<context>…</context>\n\n{QUESTION}", QUESTION),
        ("Why?\n<context>docs</context>\nAnswer in Korean.", "Why?\nAnswer in Korean."),
        (f"{QUESTION}\n<context>docs here</context>", QUESTION),
        ("What does <context>x</context> mean?", "What does <context>x</context> mean?"),
        ("What does <query>x</query> mean?", "What does <query>x</query> mean?"),
        (QUESTION, QUESTION),
    ],
    ids="behind documents|between tags|behind headings|around|before|inline|no documents|alone".split("|"),
)
def test_the_question_beside_documents_is_asked(text, question):
    assert find_housekeeping([Turn("user", text)]) is None
    assert question_in(text) == question


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "벼 🌾 메탄 🐄 감축",
        "AI: 의료 응용\nUser: 만족도",
        "Summarize the findings on titles of conversations in chat programs",
        "What title do papers on conversation analysis have?",
        'How does JSON with {"title": "x"} compare with XML?',
        "User: I cannot sleep.\nAssistant: Since when?\nWhich studies deal with such dialogues?",
        "🌾🐝🐷 관련 논문 찾아줘",
        '# Question\nFind papers about JSON records like {"title": "x"}.',
        "Compare the response rates:\nResponse: 43% with A\nResponse: 20% with B\nWhich studies agree.",
        "Trial arms\nHuman: 12 readers\nAI: 1 model\nWhich was better at nodules",
        '### Task:\nRespond to the query.\n<context>JSON like {"title": "x"}</context>\n<query>메탄?</query>',
        "",
    ],
)
def test_a_readers_question_is_none(question):
    assert find_housekeeping([Turn("user", QUESTION), Turn("assistant", "…"), Turn("user", question)]) is None


@pytest.mark.parametrize(
    "system",
    [
        "✅ cite\n❌ no guess\n⚠ careful",
        'You are helpful. Cite sources as JSON {"title": "…", "text": "…"}.',
        'Available Tools: [{"name": "search"}]\nFormat: {"tool_calls": []}',
    ],
)
def test_a_system_message_does_not_make_a_question_a_request(system):
    messages = [Turn("system", system), Turn("user", "벼 메탄 배출을 줄이는 방법을 알려줘")]
    assert find_housekeeping(messages) is None


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("title", "신규 간호사의 회복탄력성은 이직 의도와 어떻게 연결되는가?"),
        ("follow_ups", []),
        ("queries", [QUESTION]),
        ("text", ""),
        ("tags", []),
    ],
)
def test_without_a_model_the_conversation_itself_answers(key, answer):
    assert json.loads(fixed([Turn("user", REQUESTS[key])])) == {key: answer}


def by_model(messages, *answers):
    script = Scripted(answers)

    async def ask():
        async with LanguageModel(settings(retries=0), transport=script.transport) as model:
            return await answer_housekeeping(found(messages), model)

    return script, asyncio.run(ask())


def test_the_model_answers_in_the_form_that_is_asked_for():
    script, answer = by_model([Turn("user", REQUESTS["queries"])], says({"queries": ["간호", "이직"]}))
    assert json.loads(answer) == {"queries": ["간호", "이직"]}
    schema = script.bodies[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["queries"]
    assert by_model(TITLES["completion"], says({"reply": "간호사와 이직"}))[1] == "간호사와 이직"
