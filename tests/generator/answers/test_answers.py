"""An answer as a record and as text."""

from generator.answers.answer import (
    Answer,
    Sentence,
    likelihood_line,
    no_answer,
    quoting_answer,
    with_unknown_words,
)

ENGLISH = Answer(
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
    assert ENGLISH.as_text() == (
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
    assert (record["title"], record["written_by"]) == ("Passages that may help", "extractive")
    assert (record["introduction"], record["body"], record["conclusion"]) == ("", "", "")
    assert record["sentences"][0] == {
        "text": "Aerogel slows the spread.",
        "section": "passages",
        "citations": ["B1"],
        "check": "quoted",
        "hints": [],
    }
    assert QUOTING.as_text() == (
        "Passages that may help\n"
        "\n"
        "- Aerogel slows the spread. [B1] (quoted)\n"
        "- 확산이 느려졌다. [B3] (quoted)"
    )


def test_an_abstention_names_the_words_that_no_paper_contains():
    assert with_unknown_words(no_answer("en", "extractive"), ["bitcoin", "Kombucha"]).as_text() == (
        "Probably no answer\n\n"
        "The passages found probably do not answer this question. No paper contains: bitcoin, Kombucha."
    )
    assert with_unknown_words(no_answer("ko", "extractive"), ["비트코인"]).section("introduction") == (
        "찾은 문헌에는 이 질문에 대한 답이 없는 것으로 보입니다. 어느 논문에도 나오지 않는 단어: 비트코인."
    )


def test_the_likelihood_is_given_in_percent():
    assert likelihood_line("en", 0.816) == "Likelihood that these papers answer: 82 %"
    assert likelihood_line("ko", 0.816) == "이 논문들에 답이 있을 가능성: 82%"
    assert likelihood_line("en", None) == ""
