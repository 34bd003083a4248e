"""Identity of papers: DOI, arXiv id without version, or title."""

from datetime import date

import pytest

from eval.experiments.finding.paper_identity import JudgedPapers, arxiv_id, identifiers_of, is_after
from indexer.corpora.papers import Paper


def paper(paper_id="x", **values):
    return Paper.model_validate({"id": paper_id, **values})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2101.00001", "2101.00001"),
        ("2101.00001v12", "2101.00001"),
        ("arXiv:2101.00001v2", "2101.00001"),
        ("https://arxiv.org/abs/2101.00001v2", "2101.00001"),
        ("http://export.arxiv.org/pdf/2101.00001v1.pdf", "2101.00001"),
        ("10.48550/arXiv.2101.00001", "2101.00001"),
        ("hep-th/9901001v3", "hep-th/9901001"),
        ("math.AG/0601001", "math.ag/0601001"),
        ("10.1000/2101.00001", ""),
        ("12345678", ""),
        ("", ""),
    ],
)
def test_arxiv_ids_are_compared_without_address_and_version(text, expected):
    assert arxiv_id(text) == expected


def test_identifiers_are_normal_forms():
    found = identifiers_of(
        paper(
            "A1",
            title="Deep Reading: Lists!",
            doi="https://doi.org/10.5555/ABC",
            title2="깊은 읽기 목록의 이해",
        )
    )
    assert found == (
        ("doi", "10.5555/abc"),
        ("title", "deepreadinglists"),
        ("title", "깊은읽기목록의이해"),
    )


def test_a_title_of_few_letters_identifies_no_paper():
    assert identifiers_of(paper(title="Preface")) == ()


JUDGED = JudgedPapers.of(
    {"first": 2, "second": 1, "third": 0},
    {
        "first": paper("first", title="Reading lists for everyone", url="https://arxiv.org/abs/2101.00001v1"),
        "third": paper("third", doi="10.5555/third"),
    },
)


def test_relevant_papers_have_a_grade_above_0():
    assert JUDGED.relevant == {"first", "second"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (paper("second"), "second"),
        (paper("W1", title="READING LISTS: for everyone"), "first"),
        (paper("2101.00001"), "first"),
        (paper("W2", doi="doi:10.48550/ARXIV.2101.00001"), "first"),
        (paper("W3", doi="10.5555/THIRD", title="A title of its own"), "third"),
        (paper("W4", title="Reading lists for everybody"), None),
    ],
)
def test_a_record_is_judged_by_any_of_its_identifiers(found, expected):
    assert JUDGED.judged_id(found) == expected


def test_a_record_of_the_index_is_judged_by_its_id_alone_if_the_index_holds_the_judged_paper():
    records = {"first": paper("first", title="Reading lists for everyone")}
    judged = JudgedPapers.of({"first": 1}, records, held=records)
    same_title = paper("second", title="Reading lists for everyone")
    assert judged.judged_id(same_title) is None
    assert judged.judged_id(same_title, own_id=False) == "first"


def test_ids_of_another_source_identify_nothing():
    assert JUDGED.judged_id(paper("second"), own_id=False) is None


def test_a_second_record_of_a_judged_paper_is_left_out():
    found = [paper("first"), paper("other"), paper("W1", title="Reading lists for everyone")]
    assert JUDGED.known_ids(found) == ["first", "other"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (paper(year=2025), True),
        (paper(year=2024), False),
        (paper(), False),
        (paper("2404.00001", year=2024), True),
        (paper("2403.00001", year=2024), False),
        (paper(url="https://arxiv.org/abs/2402.00001", year=2025), False),  # the preprint is older
    ],
)
def test_a_paper_is_newer_by_the_month_of_its_arxiv_id_else_by_its_year(found, expected):
    assert is_after(found, date(2024, 3, 5)) is expected


def test_without_a_day_no_paper_is_newer():
    assert not is_after(paper(year=2025), None)
