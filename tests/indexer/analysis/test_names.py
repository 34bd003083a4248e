"""Names in a text: adjacent tokens that name a person, place, organisation or work."""

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.names import names_in

ANALYZER = make_analyzer("bilingual")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[Bar. Zorblax Quimby went home.", ["Bar", "Zorblax Quimby"]),
        ("The Foo Bar. Zorblax Quimby went home.", ["Foo Bar", "Zorblax Quimby"]),
        (
            "In St. Louis they met J. R. Smith and Gen. Robert Lee.",
            ["St. Louis", "J. R. Smith", "Gen. Robert Lee"],
        ),
        ("It was \x1b[31mRed\x1b[0m as the Blue Danube is.", ["Blue Danube"]),
    ],
)
def test_a_name_ends_with_its_sentence_and_begins_with_no_control_sequence(text, names):
    assert list(names_in(text, make_analyzer("bilingual").tagged_tokens(text)).values()) == names


def names(text, title=""):
    """Return the names of a text behind its title, as they are written."""
    whole = f"{title}\n{text}" if title else text
    return list(names_in(whole, ANALYZER.tagged_tokens(whole), title_end=len(title)).values())


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("Marta Quillon", "Basel is where she was.", ["Marta Quillon"]),  # Basel begins a sentence
        ("Maps of Marta Quillon", "Basel Minster is old.", ["Marta Quillon", "Basel Minster"]),
        ("On Basel", "She went to Basel.", ["Basel"]),
        ("A map of Basel", "Minster", ["Basel"]),  # no name reaches from a title into its text
        ("천문대와 박지원", "허준은 의원이다.", ["박지원", "허준"]),
    ],
)
def test_a_title_is_a_sentence_of_its_own(title, text, found):
    assert names(text, title) == found
