"""References and citations as each style prints them, written by hand from the manuals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever.citing.reference_list import reference_list
from retriever.citing.styles import chicago_range, minimal_range, style_names, two_digit_range
from retriever.errors import BadFilter
from retriever.reference import csl_item
from tests.retriever.hostile_records import RECORD

FAMILY = (
    "Kim Lee Park Ferreira Müller Smith Jones Brown Davis Wilson Moore Taylor Thomas White Harris Martin "
    "Clark Lewis Young Hall Allen King Wright Scott Green"
).split()
GIVEN = ("Ada", "Boram Jane", "C. D.", "Daniel", "Eva-Maria")
AUTHORS = [f"{family}, {GIVEN[place % 5]}" for place, family in enumerate(FAMILY)]
PAPER = {
    "id": "A",
    "title": "Wetting and drying of rice paddies: Methane and yield",
    "year": 2023,
    "journal": "Annals of Retrieval",
    "volume": 7,
    "issue": "2",
    "pages": "101–118",
    "doi": "10.5555/abc.1",
    "lang": "en",
}
KOREAN = {
    "id": "K",
    "title": "지식 그래프(knowledge graph)를 이용한 학술 검색",
    "authors": ["곽소율", "남궁민재"],
    "year": 2021,
    "journal": "정보과학회논문지",
    "volume": "12",
    "issue": "3",
    "pages": "1-10",
    "lang": "ko",
}
SENTENCE = "Wetting and drying of rice paddies: Methane and yield"
HEADLINE = "Wetting and Drying of Rice Paddies: Methane and Yield"
APA = f"{SENTENCE}. Annals of Retrieval, 7(2), 101–118. https://doi.org/10.5555/abc.1"
VANCOUVER = f"{SENTENCE}. Annals of Retrieval. 2023;7(2):101-18. doi: 10.5555/abc.1."
CHICAGO = f"“{HEADLINE}.” Annals of Retrieval 7 (2): 101–18. https://doi.org/10.5555/abc.1."
IEEE = f"“{SENTENCE},” Annals of Retrieval, vol. 7, no. 2, pp. 101–118, 2023, doi: 10.5555/abc.1."
MLA = f"“{HEADLINE}.” Annals of Retrieval, vol. 7, no. 2, 2023, pp. 101–18, https://doi.org/10.5555/abc.1."
IN_KOREAN = f"{SENTENCE}. Annals of Retrieval, 7(2), 101-118. https://doi.org/10.5555/abc.1"
EIGHT = "Kim, A., Lee, B. J., Park, C. D., Ferreira, D., Müller, E.-M., Smith, A., Jones, B. J.,"
NINETEEN = (
    f"{EIGHT} Brown, C. D., Davis, D., Wilson, E.-M., Moore, A., Taylor, B. J., Thomas, C. D., White, D., "
    "Harris, E.-M., Martin, A., Clark, B. J., Lewis, C. D., Young, D.,"
)
# The entry of a paper with 1, 3 and 25 authors, and its citation.
BY_AUTHORS = {
    "apa": {
        1: (f"Kim, A. (2023). {APA}", "(Kim, 2023)"),
        3: (f"Kim, A., Lee, B. J., & Park, C. D. (2023). {APA}", "(Kim et al., 2023)"),
        25: (f"{NINETEEN} … Green, E.-M. (2023). {APA}", "(Kim et al., 2023)"),
    },
    "chicago": {
        1: (f"Kim, Ada. 2023. {CHICAGO}", "(Kim 2023)"),
        3: (f"Kim, Ada, Boram Jane Lee, and C. D. Park. 2023. {CHICAGO}", "(Kim et al. 2023)"),
        25: (f"Kim, Ada, Boram Jane Lee, C. D. Park, et al. 2023. {CHICAGO}", "(Kim et al. 2023)"),
    },
    "ieee": {
        1: (f"[1] A. Kim, {IEEE}", "[1]"),
        3: (f"[1] A. Kim, B. J. Lee, and C. D. Park, {IEEE}", "[1]"),
        25: (f"[1] A. Kim et al., {IEEE}", "[1]"),
    },
    "korean": {
        1: (f"Kim, A. (2023). {IN_KOREAN}", "(Kim, 2023)"),
        3: (f"Kim, A., Lee, B. J., Park, C. D. (2023). {IN_KOREAN}", "(Kim 외, 2023)"),
        25: (f"{NINETEEN} … Green, E.-M. (2023). {IN_KOREAN}", "(Kim 외, 2023)"),
    },
    "mla": {
        1: (f"Kim, Ada. {MLA}", "(Kim)"),
        3: (f"Kim, Ada, et al. {MLA}", "(Kim et al.)"),
        25: (f"Kim, Ada, et al. {MLA}", "(Kim et al.)"),
    },
    "vancouver": {
        1: (f"1. Kim A. {VANCOUVER}", "(1)"),
        3: (f"1. Kim A, Lee BJ, Park CD. {VANCOUVER}", "(1)"),
        25: (f"1. Kim A, Lee BJ, Park CD, Ferreira D, Müller EM, Smith A, et al. {VANCOUVER}", "(1)"),
    },
}
K = "지식 그래프(knowledge graph)를 이용한 학술 검색"
IN_HANGUL = {
    "apa": (f"곽소율, & 남궁민재. (2021). {K}. 정보과학회논문지, 12(3), 1–10.", "(곽소율 & 남궁민재, 2021)"),
    "chicago": (
        f"곽소율, and 남궁민재. 2021. “{K}.” 정보과학회논문지 12 (3): 1–10.",
        "(곽소율 and 남궁민재 2021)",
    ),
    "ieee": (
        f"[1] 곽소율 and 남궁민재, “{K},” 정보과학회논문지, vol. 12, no. 3, pp. 1–10, 2021.",
        "[1]",
    ),
    "korean": (f"곽소율, 남궁민재 (2021). {K}. 정보과학회논문지, 12(3), 1-10.", "(곽소율, 남궁민재, 2021)"),
    "mla": (
        f"곽소율, and 남궁민재. “{K}.” 정보과학회논문지, vol. 12, no. 3, 2021, pp. 1–10.",
        "(곽소율 and 남궁민재)",
    ),
    "vancouver": (f"1. 곽소율, 남궁민재. {K}. 정보과학회논문지. 2021;12(3):1-10.", "(1)"),
}
# One author; the field is missing.
WITHOUT = {
    "apa": {
        "journal": f"Kim, A. (2023). {SENTENCE}. https://doi.org/10.5555/abc.1",
        "doi": f"Kim, A. (2023). {SENTENCE}. Annals of Retrieval, 7(2), 101–118. https://example.org/a",
        "authors": f"{SENTENCE}. (2023). Annals of Retrieval, 7(2), 101–118. https://doi.org/10.5555/abc.1",
    },
    "chicago": {
        "journal": f"Kim, Ada. 2023. {HEADLINE}. https://doi.org/10.5555/abc.1.",
        "doi": f"Kim, Ada. 2023. “{HEADLINE}.” Annals of Retrieval 7 (2): 101–18. https://example.org/a.",
        "authors": f"“{HEADLINE}.” 2023. Annals of Retrieval 7 (2): 101–18. https://doi.org/10.5555/abc.1.",
    },
    "ieee": {
        "journal": f"[1] A. Kim, “{SENTENCE},” 2023, doi: 10.5555/abc.1.",
        "doi": f"[1] A. Kim, “{SENTENCE},” Annals of Retrieval, vol. 7, no. 2, pp. 101–118, 2023. "
        "[Online]. Available: https://example.org/a",
        "authors": f"[1] {IEEE}",
    },
    "korean": {
        "journal": f"Kim, A. (2023). {SENTENCE}. https://doi.org/10.5555/abc.1",
        "doi": f"Kim, A. (2023). {SENTENCE}. Annals of Retrieval, 7(2), 101-118. https://example.org/a",
        "authors": f"{SENTENCE}. (2023). Annals of Retrieval, 7(2), 101-118. https://doi.org/10.5555/abc.1",
    },
    "mla": {
        "journal": f"Kim, Ada. {HEADLINE}. 2023, https://doi.org/10.5555/abc.1.",
        "doi": f"Kim, Ada. “{HEADLINE}.” Annals of Retrieval, vol. 7, no. 2, 2023, pp. 101–18, "
        "https://example.org/a.",
        "authors": MLA,
    },
    "vancouver": {
        "journal": f"1. Kim A. {SENTENCE}. 2023. doi: 10.5555/abc.1.",
        "doi": f"1. Kim A. {SENTENCE}. Annals of Retrieval. 2023;7(2):101-18. "
        "Available from: https://example.org/a",
        "authors": f"1. {VANCOUVER}",
    },
}


def cited(style, record):
    """Return the entry of a paper, and its citation."""
    made = reference_list(style, [csl_item(record)], [[record["id"]]])
    return made.entries[0].text, made.citations[0]


@pytest.mark.parametrize("count", [1, 3, 25])
@pytest.mark.parametrize("style", style_names())
def test_authors_are_listed_up_to_the_limit_of_the_style(style, count):
    assert cited(style, PAPER | {"authors": AUTHORS[:count]}) == BY_AUTHORS[style][count]


@pytest.mark.parametrize("style", style_names())
def test_korean_names_are_whole_and_korean_titles_keep_their_case(style):
    assert cited(style, KOREAN) == IN_HANGUL[style]


@pytest.mark.parametrize("missing", ["journal", "doi", "authors"])
@pytest.mark.parametrize("style", style_names())
def test_a_missing_field_leaves_no_gap(style, missing):
    record = PAPER | {"authors": AUTHORS[:1], "url": "https://example.org/a"} | {missing: None}

    assert cited(style, record)[0] == WITHOUT[style][missing]


@pytest.mark.parametrize(
    ("style", "entry"),
    [
        ("apa", "van der Berg, L., & King, M. L., Jr. (2020). T. J."),
        ("chicago", "Berg, Ludwig van der, and Martin Luther King Jr. 2020. “T.” J."),
        ("ieee", "[1] L. van der Berg and M. L. King Jr., “T,” J, 2020."),
        ("korean", "van der Berg, L., King, M. L., Jr. (2020). T. J."),
        ("mla", "van der Berg, Ludwig, and Martin Luther King Jr. “T.” J, 2020."),
        ("vancouver", "1. van der Berg L, King ML Jr. T. J. 2020."),
    ],
)
def test_particles_and_suffixes_are_placed_as_the_style_requires(style, entry):
    authors = ["Ludwig van der Berg", "Martin Luther King Jr."]
    record = {"id": "P", "title": "T", "authors": authors, "year": 2020, "journal": "J", "lang": "en"}

    assert cited(style, record)[0] == entry


@pytest.mark.parametrize(
    ("title", "headline"),
    [
        ("self-report in a state-of-the-art study", "Self-Report in a State-of-the-Art Study"),
        ("rice (wet) and mRNA of COVID-19", "Rice (Wet) and mRNA of COVID-19"),
        ("methane: a review", "Methane: A Review"),
    ],
)
def test_english_titles_are_in_headline_style(title, headline):
    record = {"id": "P", "title": title, "journal": "J", "lang": "en"}

    assert cited("mla", record)[0] == f"“{headline}.” J."


def test_papers_with_the_same_authors_and_year_get_letters_in_the_order_of_the_list():
    records = [
        {"id": "2", "title": "Weeds", "authors": ["Ada Kim"], "year": 2020, "lang": "en"},
        {"id": "1", "title": "Rice", "authors": ["Ada Kim"], "year": 2020, "lang": "en"},
        {"id": "3", "title": "Soil", "authors": ["Ada Kim"], "year": 2021, "lang": "en"},
    ]
    made = reference_list("apa", map(csl_item, records), [["2", "1"], ["3"]])

    assert [entry.text for entry in made.entries] == [
        "Kim, A. (2020a). Rice.",
        "Kim, A. (2020b). Weeds.",
        "Kim, A. (2021). Soil.",
    ]
    assert made.citations == ("(Kim, 2020a; Kim, 2020b)", "(Kim, 2021)")


def test_korean_papers_come_first_in_the_korean_style():
    english = {"id": "E", "title": "Rice", "authors": ["Ada Kim"], "lang": "en"}
    references = [csl_item(english), csl_item(KOREAN)]

    assert [entry.id for entry in reference_list("korean", references).entries] == ["K", "E"]
    assert [entry.id for entry in reference_list("apa", references).entries] == ["E", "K"]


@pytest.mark.parametrize(("style", "citation"), [("ieee", "[1], [2]"), ("vancouver", "(1, 2)")])
def test_numbers_follow_the_given_order(style, citation):
    made = reference_list(style, map(csl_item, [KOREAN, PAPER]), [["A", "K"], ["unknown"]])

    assert [entry.id for entry in made.entries] == ["K", "A"]
    assert made.citations == (citation, "")


@pytest.mark.parametrize(
    ("pages", "minimal", "two_digit", "chicago"),
    [
        ("101-108", "101-8", "101-08", "101-8"),
        ("321-328", "321-8", "321-28", "321-28"),
        ("1496-1505", "1496-505", "1496-505", "1496-505"),
        ("71-72", "71-2", "71-72", "71-72"),
        ("99-101", "99-101", "99-101", "99-101"),
        ("e12", "e12", "e12", "e12"),
    ],
)
def test_the_last_page_of_a_range_is_shortened(pages, minimal, two_digit, chicago):
    assert minimal_range(pages) == minimal
    assert two_digit_range(pages) == two_digit
    assert chicago_range(pages) == chicago


def test_an_unknown_style_is_refused_with_the_known_ones():
    with pytest.raises(BadFilter, match="apa, chicago, ieee, korean, mla, vancouver"):
        reference_list("harvard", [])


@settings(max_examples=40)
@given(
    st.sampled_from(style_names()), st.lists(RECORD, max_size=4, unique_by=lambda record: str(record["id"]))
)
def test_each_paper_has_one_entry_whatever_its_record_holds(style, records):
    references = list(map(csl_item, records))
    made = reference_list(style, references, [[item["id"]] for item in references])

    assert {entry.id for entry in made.entries} == {item["id"] for item in references}
    assert all(entry.text and "\n" not in entry.text for entry in made.entries)
    assert all(made.citations)
