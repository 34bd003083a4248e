import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.cleaning import Section, clean_body, split_sections


def test_the_reference_list_is_dropped_to_its_end_though_its_entries_are_numbered():
    body = "1. Introduction\nWe search.\n\nReferences\n1. Kim J. Search Engines\n2. Lee S. Ranking\n"

    assert clean_body(body) == "1. Introduction\nWe search."


def test_a_conclusion_after_the_references_is_kept():
    assert clean_body("REFERENCES\n[1] Kim.\nConclusion\nIt works.") == "Conclusion\nIt works."


def test_acknowledgements_end_at_the_next_numbered_heading():
    body = "5. Results\nGood.\nAcknowledgments\nWe thank all.\n6. Outlook\nMore to come."

    assert clean_body(body) == "5. Results\nGood.\n\n6. Outlook\nMore to come."


def test_an_appendix_goes_on_to_the_end_whatever_it_is_called_inside():
    assert clean_body("Results\nGood.\nAppendix A: Proofs\nLong.\nResults\nMore.") == "Results\nGood."


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES:",
        "7. References",
        "VII. References",
        "## References",
        "**Bibliography**",
        "Acknowledgements",
        "Acknowledgment",
        "Funding",
        "Conflict of Interest",
        "Conflicts of interest statement",
        "Declaration of competing interests",
        "Author Contributions",
        "Appendix",
        "참고문헌",
        "참고 문헌",
        unicodedata.normalize("NFD", "참고문헌"),
        "Ⅶ. 참고문헌",
        "감사의 글",
        "이해상충",
        "부록",
        "부록 A",
    ],
)
def test_sections_of_these_headings_are_dropped(heading):
    assert clean_body(f"서론\n본문이다.\n{heading}\n버릴 글이다.") == "서론\n본문이다."


@pytest.mark.parametrize(
    "line",
    [
        "References to earlier work are rare.",
        "Appendix A shows the details.",
        "부록에 자세히 적었다.",
        "Funding rose.",
    ],
)
def test_a_sentence_with_such_a_word_is_no_heading(line):
    assert clean_body(f"Before.\n{line}\nAfter.") == f"Before.\n{line}\nAfter."


def test_a_url_is_replaced_and_the_full_stop_after_it_stays():
    assert clean_body("See https://example.org/a_(b)?c=d. Then go.") == "See [URL]. Then go."


def test_a_korean_particle_after_a_url_stays():
    assert clean_body("자료는 www.example.org/자료실을 보라.") == "자료는 [URL]자료실을 보라."
    assert clean_body("(https://example.org)에서 받는다.") == "([URL])에서 받는다."


def test_a_body_of_nothing_but_references_is_empty():
    assert clean_body("References\n[1] Kim.") == ""


def test_a_body_without_headings_is_one_section():
    assert split_sections("One line.\nAnother.") == [Section("", "One line.\nAnother.")]


def test_sections_carry_their_headings_as_they_stand():
    assert split_sections("Preface.\n# Title\n1.2 Method of Search\nText.\n3. 결론\n끝이다.") == [
        Section("", "Preface."),
        Section("# Title", ""),
        Section("1.2 Method of Search", "Text."),
        Section("3. 결론", "끝이다."),
    ]


def test_a_line_that_only_begins_in_bold_is_text():
    assert split_sections("**Note** this is text") == [Section("", "**Note** this is text")]


@given(st.text(alphabet="aA1.#* \n참고문헌:/hIV", max_size=200) | st.text())
def test_no_text_stops_the_cleaning(text):
    assert isinstance(clean_body(text), str)
