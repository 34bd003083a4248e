"""Reference lists: where an entry begins, and what it names."""

import pytest

from indexer.corpora.full_text.references import doi_in, entries_in, parse_reference, parse_references
from tests.indexer.corpora.full_text.page_lines import (
    heading,
    headings,
    paragraph,
    record_of,
    set_page,
    table,
    title,
)

STYLES = """
MDPI | Kim, J.; Lee, S. Deep learning for rice. Agronomy 2020, 10, 1234. | Kim, J; Lee, S | Deep learning for rice | 2020
MDPI, et al. | Kim, J.H.; van der Berg, K.; et al. Rice: A review. Soil 2019, 3, 1. | Kim, J.H; van der Berg, K | Rice: A review | 2019
JMLR | Surname, I. Title of it all. Journal of Rice, 3:1-10, 2003. | Surname, I | Title of it all | 2003
JMLR, initials first | I. Guyon and A. Elisseeff. Variable selection. JMLR, 3:1157–1182, 2003. | I. Guyon; A. Elisseeff | Variable selection | 2003
Vancouver | 3. Kim J, Lee S. Methane from rice. Nature. 2001;12:1-3. | Kim J; Lee S | Methane from rice | 2001
Vancouver, dots | Bahdanau D., Cho K. Translation by learning. Journal. 2015;3:1-9. | Bahdanau D; Cho K | Translation by learning | 2015
Vancouver, et al. | Kim J, Lee S, et al. Methane from rice. Nature. 2001;12:1-3. | Kim J; Lee S | Methane from rice | 2001
APA | Kim, J., & Lee, S. (2020). A study: part two. Journal of Things, 12(3), 1–10. | Kim, J; Lee, S | A study: part two | 2020
APA, question | (4) Jane Doe (2018). How early? Requests and workload. Vehicles, 3(2), 4–13. | Jane Doe | How early? Requests and workload | 2018
APA, institution | Department of Health. (2010). Water in the paddies. London: Fields. | | Water in the paddies | 2010
IEEE | [1] J. Kim, S. Lee, and H. Park, “A study of rice,” J. Agric., vol. 3, pp. 1–10, 2019. | J. Kim; S. Lee; H. Park | A study of rice | 2019
Elsevier | J. Kim, S. Lee, Deep learning for rice, Agronomy 10 (2020) 1234. | J. Kim; S. Lee | Deep learning for rice | 2020
Springer | LeCun, Y., Bengio, Y.: Deep learning. Nature 521, 436–444 (2015) | LeCun, Y; Bengio, Y | Deep learning | 2015
ACL | Jane Doe and John Smith. 2021. Learning to rank. In Proceedings of ACL, pages 1–10. | Jane Doe; John Smith | Learning to rank | 2021
Chicago | Aho, Alfred V., and Margaret J. Corasick. String matching. CACM 18 (1975): 333. | Aho, Alfred V; Margaret J. Corasick | String matching | 1975
Chicago, year | Akiba, Y., K. Imamura, and E. Sumita. 2001. Edit distances. In MT Summit. | Akiba, Y; K. Imamura; E. Sumita | Edit distances | 2001
Korean, APA | 홍길동, 김철수 (2018). 한국어 검색의 성능. 정보학회지, 12(3), 1-10. | 홍길동; 김철수 | 한국어 검색의 성능 | 2018
Korean, commas | 홍길동, 김철수, 한국어 검색의 성능에 관한 연구, 정보학회지, 12(3), 2018. | 홍길동; 김철수 | 한국어 검색의 성능에 관한 연구 | 2018
Korean, brackets | 홍길동·김철수(2018), 「한국어 검색」, 『정보학회지』, 3-9. | 홍길동; 김철수 | 한국어 검색 | 2018
Korean, quotes | [2] 송서윤, “『조선왕조실록』 기록으로 복원한 가뭄,” 기록과 사료, 2016. | 송서윤 | 『조선왕조실록』 기록으로 복원한 가뭄 | 2016
Korean, others | 김철수 외 3인, 논의 물 관리, 농업학회지, 2015. | 김철수 | 논의 물 관리 | 2015
Korean, stops | 김철수. 2015. 논의 물 관리. 농업학회지 3: 1-9. | 김철수 | 논의 물 관리 | 2015
Korean, society | 한국농업학회(2015). 논의 물 관리. 서울: 논. | | 논의 물 관리 | 2015
"""  # noqa: E501


@pytest.mark.parametrize(("style", "text", "authors", "name", "year"), table(STYLES))
def test_authors_title_and_year_are_found_in_the_common_styles(style, text, authors, name, year):
    named = {"authors": authors.split("; ")} if authors else {}

    assert parse_reference(text) == {"text": text, "title": name, "year": int(year)} | named


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("See https://doi.org/10.1234/abc.5.", "10.1234/abc.5"),
        ("doi:10.1016/S0140-6736(20)30183-5).", "10.1016/S0140-6736(20)30183-5"),
        ("version 10.2 of 2020/21", ""),
    ],
)
def test_a_doi_ends_before_the_punctuation_of_its_sentence(text, doi):
    assert doi_in(text) == doi


def test_a_preprint_has_its_registered_doi_and_missing_fields_are_omitted():
    assert parse_reference("Doe. 2021. Rank. arXiv:2101.00001v2")["doi"] == "10.48550/arXiv.2101.00001"
    assert parse_reference("Census of rice") == {"text": "Census of rice", "title": "Census of rice"}
    assert parse_references(["—", "12.", ""]) == []


LISTS = """
labels | [1] Kim, A. One./More of one, 1999./[2] Lee, B. Two. | 2
numbers | 1. Kim A. One./2001. Not an entry./2. Lee B. Two./3. Cho C. | 3
bullets | - Kim, A. (2001). One - a./- Lee, B. (2002). Two. | 2
blocks | Kim, A. (2001). One.//Lee, B. (2002)./Two.//홍길동 (2003). 셋. | 3
hanging | Kim, A. (2001). One./    More of one./Lee, B. (2002). Two./    More. | 2
authors | Kim, A. (2001). One. Soil, 3./Lee, B. (2002). Two of/them. Soil, 4./홍길동(2003). 셋. | 3
"""


@pytest.mark.parametrize(("kind", "lines", "count"), table(LISTS))
def test_entries_begin_at_labels_blank_lines_indentations_or_authors(kind, lines, count):
    entries = entries_in(lines.split("/"))

    assert len(entries) == int(count)
    assert not any(entry.startswith("- ") for entry in entries)


@pytest.mark.parametrize(
    "text", ["A. " * 700, "Aa Bb " * 400, "((((" * 500, "Kim A, " * 300, f"가나다, J. {'A' * 1900}!"]
)
def test_a_reference_made_to_be_slow_is_parsed_in_time(text):
    assert parse_reference(text)["text"] == text.strip()[:2_000]
    assert len(entries_in([text])) == 1


TEXT = (title("Methane and water"), heading("1. Introduction"), *paragraph())
ENTRIES = [
    f"Lee, A. ({year}). Water in the paddies of {year - 2000}. Fields, 3, 1-9." for year in range(2001, 2009)
]
REPORT = ["Department of Health. (2010). Water in the paddies of the station.", "London: Fields."]


@pytest.mark.parametrize(
    "name", ["References", "참 고 문 헌", "Ⅳ. 참고 문헌", "참고문헌 - References", "5장 참고문헌"]
)
def test_a_list_is_found_under_each_of_its_headings_and_ends_at_an_appendix(name):
    record = record_of(
        set_page(*TEXT, heading(name), *ENTRIES, heading("Appendix A. Stations"), *paragraph())
    )

    assert [entry["text"] for entry in record["reference_list"]] == ENTRIES
    assert "Appendix A. Stations" in headings(record)


@pytest.mark.parametrize(
    ("first", "following"),
    [({"left": 60}, {"left": 75}), ({"left": 75}, {"left": 60}), ({"gap": 1}, {})],
    ids=["hanging", "indented", "apart"],
)
def test_entries_on_a_page_begin_at_their_indentation_or_at_a_gap(first, following):
    lines = [
        line
        for number in range(6)
        for line in ((f"Lee, A. and Kim, B. Water {number}.", first), ("Fields, 2018.", following))
    ]

    assert len(record_of(set_page(*TEXT, heading("References"), *lines))["reference_list"]) == 6


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (
            [
                "[Lee20] A. Lee. Water in the",
                "paddies. 2020.",
                "[Kim and Cho, 2019] B. Kim and",
                "Cho. 2019.",
            ],
            2,
        ),
        ([*ENTRIES, ("Affiliation:", {"gap": 3}), "Ann Lee"], 8),
        ([*ENTRIES, "Department of Rice, University of the Fields", "Seoul"], 8),
        ([*ENTRIES[:4], *REPORT, *ENTRIES[4:]], 8),
    ],
    ids=["labels", "address", "department", "department within"],
)
def test_a_list_ends_at_an_address_and_not_at_a_department_within_it(lines, count):
    assert len(record_of(set_page(*TEXT, heading("References"), *lines))["reference_list"]) == count
