import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.cleaning import Section, clean_body, split_sections

BODIES = {
    "references to their end, though numbered": (
        "1. Introduction\nWe search.\n\nReferences\n1. Kim J. Search Engines\n2. Lee S. Ranking\n",
        "1. Introduction\nWe search.",
    ),
    "not the conclusion after them": ("REFERENCES\n[1] Kim.\nConclusion\nIt works.", "Conclusion\nIt works."),
    "acknowledgements to the next heading": (
        "5. Results\nGood.\nAcknowledgments\nWe thank all.\n6. Outlook\nMore to come.",
        "5. Results\nGood.\n\n6. Outlook\nMore to come.",
    ),
    "an appendix to the end": (
        "Results\nGood.\nAppendix A: Proofs\nLong.\nResults\nMore.",
        "Results\nGood.",
    ),
    "all of it": ("References\n[1] Kim.", ""),
    "an address, not its full stop": ("See https://example.org/a_(b)?c=d. Then go.", "See [URL]. Then go."),
    "an address, not its particle": (
        "자료는 www.example.org/자료실을 보라. (https://example.org)에서",
        "자료는 [URL]자료실을 보라. ([URL])에서",
    ),
}


@pytest.mark.parametrize(("body", "kept"), BODIES.values(), ids=BODIES)
def test_what_is_dropped_from_a_body(body, kept):
    assert clean_body(body) == kept


HEADINGS = (
    "References|REFERENCES:|7. References|VII. References|## References|**Bibliography**|Acknowledgements"
    "|Acknowledgment|Funding|Conflict of Interest|Conflicts of interest statement|Author Contributions"
    "|Declaration of competing interests|Appendix|참고문헌|참고 문헌|Ⅶ. 참고문헌"
    "|감사의 글|이해상충|부록|부록 A"
).split("|")


@pytest.mark.parametrize("heading", [*HEADINGS, unicodedata.normalize("NFD", "참고문헌")])
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


def test_sections_carry_their_headings_as_they_stand():
    assert split_sections("Preface.\n# Title\n1.2 Method of Search\nText.\n3. 결론\n끝이다.") == [
        Section("", "Preface."),
        Section("# Title", ""),
        Section("1.2 Method of Search", "Text."),
        Section("3. 결론", "끝이다."),
    ]
    assert split_sections("**Note** this is text") == [Section("", "**Note** this is text")]


@given(st.text(alphabet="aA1.#* \n참고문헌:/hIV", max_size=200) | st.text())
def test_no_text_stops_the_cleaning(text):
    assert isinstance(clean_body(text), str)
