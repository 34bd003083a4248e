"""Which words an abbreviation has the initials of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.glossary.patterns.initials import initial_form


@pytest.mark.parametrize(
    ("short", "text", "long"),
    [
        ("LLM", "we use a large language model", "large language model"),
        ("EFL", "learners of English as a foreign language", "English as a foreign language"),
        ("MZ", "of monozygotic", "monozygotic"),
        ("OA", "with osteoarthritis", "osteoarthritis"),
        ("ConvLSTM", "a convolutional long short-term memory", "convolutional long short-term memory"),
        ("HuR", "the human antigen R", "human antigen R"),
        ("eGFR", "the estimated glomerular filtration rate", "estimated glomerular filtration rate"),
        ("SGLT2", "of sodium-glucose cotransporter 2", "sodium-glucose cotransporter 2"),
        ("AAV", "an adeno-associated virus", "adeno-associated virus"),
        ("AZA", "and 5-azacytidine", "5-azacytidine"),
        ("4-HNE", "of 4-hydroxynonenal", "4-hydroxynonenal"),
        ("CDK2", "cyclin A/cyclin-dependent kinase 2", "cyclin-dependent kinase 2"),
        ("DMSO", "in dimethyl sulfoxide", "dimethyl sulfoxide"),
        ("CO2", "of carbon dioxide", "carbon dioxide"),
        ("H2S", "of hydrogen sulfide", "hydrogen sulfide"),
    ],
)
def test_the_last_words_with_these_initials(short, text, long):
    assert initial_form(short, text) == long


def test_more_words_are_taken_rather_than_parts_of_one():
    assert initial_form("MM", "patients with multiple myeloma") == "multiple myeloma"


@pytest.mark.parametrize(
    ("short", "text"),
    [
        ("TNT", "the treatment"),
        ("TAT", "the templates"),
        ("TAT", "of transcription"),
        ("KD", "a large knock"),
        ("AI", "an air pump that is intelligent"),
        ("HI", "here we use isotopes"),
        ("PM2", "of particulate matter"),
        ("ITS", "in the text of small studies"),
    ],
)
def test_words_without_these_initials(short, text):
    assert initial_form(short, text) is None


@given(
    st.text(min_size=1, max_size=10).filter(lambda text: any(map(str.isalnum, text))), st.text(max_size=60)
)
def test_no_text_makes_it_fail(short, text):
    long = initial_form(short, text)
    assert long is None or text.endswith(long)
