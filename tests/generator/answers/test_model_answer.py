"""Answers by a language model with scripted replies: prompts, citations, checks, abstentions."""

import asyncio

import pytest

from generator.answers.model_answer import written_answer
from generator.llm import LanguageModel
from generator.prompts import load_prompt
from indexer.corpora.papers import language_of
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import passage

QUESTION = "How long does aerogel delay thermal runaway?"
DELAYED = "{} delayed thermal runaway between cells by {} minutes."
EVIDENCE = (
    passage("B1", DELAYED.format("Aerogel sheets", 14), title="Aerogel in packs"),
    passage("B2", DELAYED.format("Mica plates", 6), title="Mica in packs"),
)
GOOD = {"text": "Aerogel delayed thermal runaway by 14 minutes.", "citations": [1]}


def answer_of(*body, title="Aerogel delays it", introduction=(), conclusion=(), answered=True):
    """Return what a model says."""
    sections = {"introduction": list(introduction), "body": list(body), "conclusion": list(conclusion)}
    return {"title": title, **sections, "answered": answered}


def ask(sample, *answers, question=QUESTION, evidence=EVIDENCE):
    """Ask a model that gives these answers; return its script, the answer and the call."""
    script = Scripted([says(answer) for answer in answers])

    async def call():
        async with LanguageModel(settings(), transport=script.transport) as model:
            return await written_answer(question, evidence, sample).call(model)

    made = asyncio.run(call())
    return script, made.value, made.reply, made.prompt_versions["prompt_version"]


def checks(answer):
    return [(sentence.citations, sentence.check) for sentence in answer.sentences]


def test_an_answer_has_passage_ids_in_place_of_numbers(sample):
    both = {"text": "Aerogel and mica delayed thermal runaway.", "citations": [1, 2]}
    script, answer, reply, version = ask(sample, answer_of(GOOD, introduction=[both], conclusion=[both]))
    assert answer.title == "Aerogel delays it"
    assert [(each.section, each.text, each.citations) for each in answer.sentences] == [
        ("introduction", both["text"], ("B1", "B2")),
        ("body", GOOD["text"], ("B1",)),
        ("conclusion", both["text"], ("B1", "B2")),
    ]
    assert (answer.language, answer.written_by, answer.abstained) == ("en", "tiny-writer-7b", False)
    assert (len(script.requests), reply.repaired) == (1, False)
    assert version == load_prompt("answer", "en").version


@pytest.mark.parametrize(
    ("title", "check", "hints"),
    [
        ("Aerogel sheets delayed thermal runaway between cells by 14 minutes.", "supported", []),
        ("Aerogel delays thermal runaway by 41 minutes", "not checked", ["number"]),
        ("What insulation can do", "not checked", []),
        ("Does aerogel accelerate thermal runaway by 41 minutes?", None, []),
    ],
)
def test_a_title_is_checked_against_the_cited_passages(sample, title, check, hints):
    _, answer, *_ = ask(sample, answer_of(GOOD, title=title))

    record = answer.as_record()
    assert record.get("title_check") == check
    assert [hint["code"] for hint in record.get("title_hints", [])] == hints


@pytest.mark.parametrize(
    ("changed", "citations", "check", "hints"),
    [
        ({"citations": [1, 7]}, ("B1",), "not checked", []),
        ({"citations": [1, 1]}, ("B1",), "not checked", []),
        ({"citations": [3, 0, -1]}, (), "unsupported", ["citation"]),
        ({"citations": []}, (), "unsupported", ["citation"]),
        ({"citations": [2]}, ("B2",), "not checked", ["number"]),
        ({"text": "Aerogel delayed thermal runaway by 41 minutes."}, ("B1",), "not checked", ["number"]),
        ({"text": "Aerogel delayed thermal runaway by 14 hours."}, ("B1",), "not checked", ["unit"]),
        ({"text": EVIDENCE[0].text}, ("B1",), "supported", []),
    ],
)
def test_citations_of_a_sentence_and_its_check(sample, changed, citations, check, hints):
    script, answer, *_ = ask(sample, answer_of(GOOD, GOOD | changed))
    assert checks(answer) == [(("B1",), "not checked"), (citations, check)]
    assert [hint.code for hint in answer.sentences[1].hints] == hints
    assert len(script.requests) == 1


TEXT = GOOD["text"]
MANY = [{"text": f"Aerogel delayed runaway {number}.", "citations": [1]} for number in range(13)]


@pytest.mark.parametrize(
    ("said", "texts", "citations"),
    [
        ({"title": "Aerogel", "body": [GOOD]}, [TEXT], ("B1",)),
        ({"body": [GOOD], "answered": True}, [TEXT], ("B1",)),
        (answer_of(GOOD | {"citations": 1}), [TEXT], ("B1",)),
        (answer_of(GOOD | {"citations": "2"}), [TEXT], ("B2",)),
        (answer_of(GOOD | {"citations": ["[2]", "1"]}), [TEXT], ("B2", "B1")),
        (answer_of(GOOD | {"citations": "[1], [2]"}), [TEXT], ("B1", "B2")),
        (answer_of(GOOD | {"citations": None}), [TEXT], ()),
        (answer_of({"text": TEXT}), [TEXT], ()),
        (answer_of(f"{TEXT[:-1]} [1]."), [TEXT], ("B1",)),
        (answer_of(*MANY), [each["text"] for each in MANY[:10]], ("B1",)),
        (answer_of({"text": "x" * 1_500, "citations": [1]}), ["x" * 1_000], ("B1",)),
        (answer_of(GOOD) | {"introduction": None, "conclusion": ""}, [TEXT], ("B1",)),
        (answer_of() | {"body": GOOD}, [TEXT], ("B1",)),
    ],
)
def test_an_answer_that_is_nearly_right_is_used_without_a_second_call(sample, said, texts, citations):
    script, answer, *_ = ask(sample, said)
    assert [sentence.text for sentence in answer.sentences] == texts
    assert answer.sentences[0].citations == citations
    assert answer.title == said.get("title", QUESTION)
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("text", "listed", "left", "citations"),
    [
        ("It helps [1].", [], "It helps.", ("B1",)),
        ("It helps [1][2].", [], "It helps.", ("B1", "B2")),
        ("It helps [1, 2].", [], "It helps.", ("B1", "B2")),
        ("It helps [1-2].", [], "It helps.", ("B1", "B2")),
        ("It helps [^2].", [1], "It helps.", ("B1", "B2")),
        ("It helps【2†source】.", [], "It helps.", ("B2",)),
        ("It helps (2).", [], "It helps.", ("B2",)),
        ("According to [1], it helps.", [], "According to [1], it helps.", ("B1",)),
        ("It took part in phase (2).", [1], "It took part in phase (2).", ("B1",)),
        ("The interval was [1, 2].", [1], "The interval was [1, 2].", ("B1",)),
        ("Scores lie in [0, 1].", [2], "Scores lie in [0, 1].", ("B2",)),
        ("It names [7] and [18F]FDG (2021).", [1], "It names [7] and [18F]FDG (2021).", ("B1",)),
    ],
)
def test_citations_in_the_text_become_those_of_the_sentence(sample, text, listed, left, citations):
    _, answer, *_ = ask(sample, answer_of({"text": text, "citations": listed}))
    assert [(sentence.text, sentence.citations) for sentence in answer.sentences] == [(left, citations)]


KOREAN = answer_of({"text": "에어로겔은 열폭주를 14분 늦췄다.", "citations": [1]}, title="에어로겔")


@pytest.mark.parametrize(
    ("question", "answers", "language"),
    [
        ("에어로겔은 열폭주를 늦추는가?", [answer_of(GOOD), KOREAN], "ko"),
        ("aerogel과 thermal runaway의 관계", [answer_of(GOOD), KOREAN], "ko"),
        (QUESTION, [KOREAN, answer_of(GOOD)], "en"),
        (QUESTION, [KOREAN, "nothing"], "ko"),
    ],
)
def test_an_answer_in_the_wrong_language_is_requested_once_more(sample, question, answers, language):
    script, answer, *_ = ask(sample, *answers, question=question)
    assert len(script.requests) == 2
    assert language_of(answer.sentences[0].text) == language


@pytest.mark.parametrize(
    "said", [{"title": "x"}, {"answered": True}, answer_of(GOOD | {"citations": "[1] (p. 4)"})]
)
def test_an_answer_whose_meaning_is_not_clear_is_sent_back(sample, said):
    script, answer, *_ = ask(sample, said, answer_of(GOOD))
    assert len(script.requests) == 2
    assert [sentence.text for sentence in answer.sentences] == [TEXT]


def test_an_abstention_keeps_only_sentences_with_citations(sample):
    nothing = {"text": "The passages hold no answer.", "citations": []}
    close = {"text": "Mica delayed thermal runaway by 6 minutes.", "citations": [2]}
    _, answer, *_ = ask(sample, answer_of(introduction=[nothing, close], answered=False))
    assert answer.abstained
    assert answer.title == "Probably no answer"
    assert [sentence.text for sentence in answer.sentences] == ["Mica delayed thermal runaway by 6 minutes."]
    assert answer.section("introduction") == (
        "The passages found probably do not answer this question. Mica delayed thermal runaway by 6 minutes."
    )
    assert answer.written_by == "tiny-writer-7b"
