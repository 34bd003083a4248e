"""The text of an answer as a chat shows it, piece by piece."""

import pytest

from generator.tracing import StreamEvent
from server.cited_text import CitedText, harmless

HITS = [
    {
        "passage_id": f"P{number}#1",
        "doc_id": f"P{number}",
        "title": f"Title {number}",
        "paper": {"authors": ["Kim A", "Lee B", "Park C", "Choi D"], "year": 2020, "journal": "Journal"},
    }
    for number in (1, 2)
]


def begun(question="Does it help?", likelihood=None):
    """Return a text that cites two papers."""
    text = CitedText(question, lambda hit: f"/{hit['doc_id']}#{hit['passage_id']}")
    text.evidence(HITS, likelihood)
    return text


def sentence(text, *citations, section="body", check="supported"):
    return {"text": text, "section": section, "citations": list(citations), "check": check}


def answer(*sentences, abstained=False, written_by="extractive"):
    return {"sentences": list(sentences), "abstained": abstained, "written_by": written_by}


def test_sentences_have_numbers_paragraphs_doubts_and_references():
    text = begun()
    sentences = [
        sentence("It helps.", "P2#1", section="introduction"),
        sentence("So they say.", "P2#1", "P1#1"),
        sentence("Or not.", check="unsupported"),
    ]
    assert [text.sentence(each) for each in sentences] == [
        "It helps. [1]",
        "\n\nSo they say. [1][2]",
        " Or not. (unsupported)",
    ]
    assert text.end(answer(*sentences), ["quoted"]) == (
        "\n\nNote: quoted\n\n**References**\n\n"
        "- [1] Kim A, Lee B, Park C et al. (2020). Title 2. Journal /P2#P2#1\n"
        "- [2] Kim A, Lee B, Park C et al. (2020). Title 1. Journal /P1#P1#1"
    )
    marks = [(each.start, each.end, each.reference.number) for each in text.citations]
    assert marks == [(10, 13, 1), (28, 31, 1), (31, 34, 2)]


def test_an_answer_begun_anew_says_so_and_one_that_is_not_streamed_lacks_what_was_withdrawn():
    first, second = sentence("It helps.", "P1#1"), sentence("It costs.", "P2#1", check="unsupported")
    text = begun()
    assert text.sentence(first) == "It helps. [1]"
    assert text.restart("the model broke off") == "\n\n(the model broke off)"
    assert text.sentence(second) == "\n\nIt costs. [2] (unsupported)"
    assert text.end(answer(second), []).startswith("\n\n**References**")  # no check has changed

    whole = CitedText("Does it help?", lambda hit: f"/{hit['doc_id']}", streams=False)
    final = {"notes": [], "note_codes": [], "unknown_words": [], "question": "Does it help?"}
    events = [
        StreamEvent("evidence", {"hits": HITS, "likelihood": None}),
        StreamEvent("sentence", first),
        StreamEvent("restart", {"reason": "again", "message": "the model broke off"}),
        StreamEvent("done", {"answer": answer(second), **final}),
    ]
    assert "".join(map(whole.take, events)).startswith("It costs. [1] (unsupported)\n\n**References**")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            ("supported", "unsupported"),
            ("excluded", "supported"),
            "sentence 1: excluded; sentence 2: supported",
        ),
        (("not checked", "not checked"), ("supported", "unsupported"), "Checked: sentence 2: unsupported\n"),
        (
            ("not checked", "not checked"),
            ("not checked", "not checked"),
            "No model has checked the sentences.",
        ),
    ],
)
def test_another_check_of_a_sentence_is_told_at_the_end(before, after, said):
    text, texts = begun(), ("It helps.", "It costs.")
    written = [sentence(each, "P1#1", check=check) for each, check in zip(texts, before, strict=True)]
    streamed = "".join(map(text.sentence, written))
    assert ("(" in streamed) is ("unsupported" in before)
    final = [sentence(each, "P1#1", check=check) for each, check in zip(texts, after, strict=True)]
    assert said in text.end(answer(*final), [])


def test_an_abstaining_answer_names_unknown_words_and_lists_the_nearest_papers():
    assert begun(likelihood=0.04).end(answer(abstained=True), [], ["quokka"]) == (
        "Likelihood that these papers answer: 4 %\n\n"
        "The passages found probably do not answer this question. No paper contains: quokka.\n\n"
        "**Nearest papers**\n\n"
        "- Kim A, Lee B, Park C et al. (2020). Title 1. Journal /P1#P1#1\n"
        "- Kim A, Lee B, Park C et al. (2020). Title 2. Journal /P2#P2#1"
    )
    korean = begun("도움이 되는가?").end(answer(abstained=True), [])
    assert "\n\n**가장 가까운 논문**\n\n- " in korean


ABBREVIATIONS = (
    "J.Kim et al. found.The e.g. U.S. p < .05",
    "e.g.methane, Fig.two al.shows; U.S.EPA, e.g./i.e. J.Li et.al. 했다.그러나",
    "see Fig.two: is it e.g.methane? 0.5mg/kg 3.5/7 v1.2/x",
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p < .05 and p <.01", "p < .05 and p <.01"),
        ("<img src=x>", "< img src=x>"),
        ("<https://evil.test>", "< `https://evil.test>`"),
        ("see http://evil.test, www.evil.test", "see `http://evil.test,` `www.evil.test`"),
        ("참고http://evil.test/a에서", "참고`http://evil.test/a에서`"),
        ("\\http://evil.test", "`\\http://evil.test`"),
        ("`a` HTTP://evil.test `", "'a' `HTTP://evil.test` '"),
        ("from a.b@evil.test or evil.com", "from `a.b@evil.test` or `evil.com`"),
        ("evil.co.kr, EVIL.SHOP/a or a.xn--p1ai", "`evil.co.kr,` `EVIL.SHOP/a` or `a.xn--p1ai`"),
        ("Evil.Com/steal?x=1 or EVIL.Com", "`Evil.Com/steal?x=1` or `EVIL.Com`"),
        ("evil.Foo/a evil.Foo:80 a.foo./b 예시.한국", "`evil.Foo/a` `evil.Foo:80` `a.foo./b` `예시.한국`"),
        ("evil.foo?x=1 evil.한글/a", "`evil.foo?x=1` `evil.한글/a`"),
        *[(text, text) for text in ABBREVIATIONS],
        ("&#104;ttp://evil.test &lbrack;1&rbrack;", "& #104;`ttp://evil.test` & lbrack;1& rbrack;"),
        ("<|im_start|>system <｜User｜>", "< |im_start|>system < ｜User｜>"),
        ("R&D, doi 10.1000/182, 3:1, and/or e.g. this.", "R&D, doi 10.1000/182, 3:1, and/or e.g. this."),
        ("</div><!-- x -->", "< /div>< !-- x -->"),
        ("![x](http://evil.test)", "!(x)(`http://evil.test)`"),
        ("said [1] (supported)", "said (1) supported"),
        ("two\nlines\u202e", "two lines\\u202e"),
    ],
)
def test_a_text_of_a_paper_forms_no_tag_link_image_or_citation(text, shown):
    assert harmless(text) == shown
