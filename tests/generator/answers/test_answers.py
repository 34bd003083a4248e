"""An answer as a record, as text, and as a document with references in a style."""

import pytest

from base.documents.formats import DOCUMENT_FORMATS
from generator.answers.answer import Answer, Sentence, no_answer, quoting_answer
from generator.answers.cited_answer import cited_document, with_citation

CHECKED = Answer(
    title="Slowing thermal runaway",
    sentences=(
        Sentence("Aerogel slows the spread.", "introduction", ("B1", "B2"), "supported"),
        Sentence("It took 14 minutes.", "body", ("B1",), "supported"),
        Sentence("It took 99 minutes.", "body", ("B2",), "unsupported"),
        Sentence("확산이 느려졌다.", "body", ("B3",), "not checked"),
        Sentence("Nobody knows more.", "conclusion", (), "unsupported"),
    ),
    language="en",
    written_by="tiny-writer",
    abstained=False,
)
QUOTING = quoting_answer(
    "en",
    [
        Sentence("Aerogel slows the spread.", "passages", ("B1",), "quoted"),
        Sentence("확산이 느려졌다.", "passages", ("B3",), "quoted"),
    ],
)


def test_text_has_headings_citations_and_checks():
    assert CHECKED.as_text() == (
        "Slowing thermal runaway\n"
        "\n"
        "Introduction\n"
        "Aerogel slows the spread. [B1, B2]\n"
        "\n"
        "Main body\n"
        "It took 14 minutes. [B1]\n"
        "It took 99 minutes. [B2] (unsupported)\n"
        "확산이 느려졌다. [B3] (not checked)\n"
        "\n"
        "Conclusion\n"
        "Nobody knows more. (unsupported)"
    )


def test_quoted_sentences_are_a_list_without_sections():
    record = QUOTING.as_record()
    assert (record["introduction"], record["body"], record["conclusion"]) == ("", "", "")
    first = {"text": "Aerogel slows the spread.", "section": "passages", "citations": ["B1"]}
    assert record["sentences"][0] == first | {"check": "quoted", "hints": []}
    assert QUOTING.as_text() == (
        "Passages that may help\n"
        "\n"
        "- Aerogel slows the spread. [B1] (quoted)\n"
        "- 확산이 느려졌다. [B3] (quoted)"
    )


PADDY = {"title": "Drying", "authors": ["Boram Jang"], "year": 2023, "journal": "Paddy", "lang": "en"}
RECORDS = [
    {"doc_id": "J", **PADDY},
    {"doc_id": "K", "title": "논물", "authors": ["강가은"], "year": 2020, "journal": "작물", "lang": "ko"},
    {"doc_id": "U", "title": "Uncited", "authors": ["Ada Kim"], "year": 2021, "lang": "en"},
]
WRITTEN = Answer(
    title="Methane and yield",
    sentences=(
        Sentence("Drying was studied.", "introduction", (), "not checked"),
        Sentence("Methane fell by 37%.", "body", ("K",), "supported"),
        Sentence("Yield fell by half.", "body", ("J", "K"), "unsupported"),
        Sentence("Is it worth it?", "conclusion", ("J",), "supported"),
    ),
    language="en",
    written_by="tiny-writer",
    abstained=False,
)


def text(answer, style, question=""):
    return DOCUMENT_FORMATS["text"].encoded(cited_document(answer, RECORDS, style, question)).decode()


def test_an_answer_of_a_model_has_sections_citations_and_only_the_cited_papers():
    assert text(WRITTEN, "apa", "Does methane fall?").split("\n\n") == [
        "Methane and yield",
        "Does methane fall?",
        "Introduction",
        "Drying was studied. (not checked)",
        "Main body",
        "Methane fell by 37% (강가은, 2020). Yield fell by half (Jang, 2023; 강가은, 2020). (unsupported)",
        "Conclusion",
        "Is it worth it? (Jang, 2023)",
        "References",
        "Jang, B. (2023). Drying. Paddy.\n강가은. (2020). 논물. 작물.",
        "written by tiny-writer\n",
    ]


def test_quoted_sentences_are_items_in_quotation_marks():
    sentence = Sentence("메탄이 37% 줄었다.", "passages", ("K",), "quoted")
    quoted = quoting_answer("ko", [sentence])
    assert text(quoted, "korean").split("\n\n")[1:4] == [
        "- “메탄이 37% 줄었다.” (강가은, 2020)",
        "참고 문헌",
        "강가은 (2020). 논물. 작물.",
    ]


def test_an_abstention_lists_the_nearest_papers():
    none = no_answer("en", "extractive")

    assert text(none, "apa").split("\n\n") == [
        "Probably no answer",
        "The passages found probably do not answer this question.",
        "Nearest papers",
        "Jang, B. (2023). Drying. Paddy.\nKim, A. (2021). Uncited.\n강가은. (2020). 논물. 작물.\n",
    ]


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("Methane fell.", "Methane fell (Kim, 2020)."),
        ("Did methane fall?", "Did methane fall? (Kim, 2020)"),
        ("methane fell", "methane fell (Kim, 2020)"),
        ("See [9].", "See (9) (Kim, 2020)."),
    ],
)
def test_a_citation_precedes_the_period(sentence, written):
    made = Sentence(sentence, "body", ("K",), "supported")

    assert with_citation(made, "(Kim, 2020)", "en") == written
