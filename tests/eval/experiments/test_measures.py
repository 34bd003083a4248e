"""Measures of experiments with values computed by hand, identity of papers, and names in reports."""

from datetime import date
from typing import Any, cast

import pytest

from eval.experiments.comparing import (
    COLUMNS,
    MAIN,
    NEEDS_MODEL,
    Comparison,
    Outcome,
    Table,
    f1_of,
    harmonic_mean,
    mean,
    set_counts,
    wilson_columns,
)
from eval.experiments.experiment import Results
from eval.experiments.paper_identity import JudgedPapers, arxiv_id, is_after
from eval.experiments.report import as_markdown, as_page
from eval.experiments.tables.answers import best_risks, risk_at, risks
from eval.statistics import wilson
from indexer.corpora.papers import Paper

HALF = {"retrieved": 4, "relevant": 2, "found": 1}  # precision 1/4, recall 1/2, F1 2/6
WHOLE = {"retrieved": 1, "relevant": 1, "found": 1}
NOTHING = {"retrieved": 0, "relevant": 5, "found": 0}


def test_counts_are_of_distinct_ids():
    assert set_counts(["a", "b", "a", "c", "d"], {"a", "e"}) == HALF
    assert f1_of(HALF) == pytest.approx(1 / 3)
    assert f1_of({"retrieved": 0, "relevant": 0, "found": 0}) == 0
    assert harmonic_mean(0.3612, 0.4105) == pytest.approx(0.3843, abs=0.00005)  # as printed by SPAR
    assert harmonic_mean(0.0, 0.0) == 0


@pytest.mark.parametrize(
    ("records", "f1", "recall", "precision", "mean_f1", "answered"),
    [
        ([HALF, WHOLE], 2 * 0.625 * 0.75 / 1.375, 0.75, 0.625, 2 / 3, 2),
        ([HALF, NOTHING], 0.25, 0.25, 0.25, 1 / 6, 1),
        ([NOTHING, NOTHING], None, 0, None, 0, 0),
        ([{"retrieved": 3, "relevant": 0, "found": 0}], None, None, 0, None, 1),
    ],
)
def test_set_measures_are_means_over_questions(records, f1, recall, precision, mean_f1, answered):
    values = [column(records) for column in COLUMNS.values()]
    assert values == pytest.approx([f1, recall, precision, mean_f1, answered])


TOPICS: list[dict[str, Any]] = [
    {"rows": {"first": HALF, "second": WHOLE, "failed": None}},
    {"rows": {"first": HALF, "second": NOTHING}},
]


def test_rows_are_compared_with_the_first_one_over_the_topics_of_both():
    rows = Results(None, cast("Any", None), TOPICS).rows(["first", "second", "failed"])
    table = Comparison("", "run", {"found": mean("found")}, f1_of, "difference of F1", main=MAIN).table(rows)
    assert table.columns == ("run", "found", "difference of F1", "95 %", "p", "better / same / worse")
    first, second, failed = table.rows
    assert first == ("first", 1.0, None, None, None, None)
    assert (second[1], second[2], second[5]) == (0.5, "+0.1667", "1 / 0 / 1")  # (1 + 0) / 2 - 1/3
    assert failed == ("failed", NEEDS_MODEL, None, None, None, None)
    main = [
        table.main[f"{name}, {row}"] for row in ("first", "second") for name in ("F1", "Recall", "Precision")
    ]
    assert main == pytest.approx([1 / 3, 0.5, 0.25, 2 / 3, 0.5, 1])


def test_the_interval_of_a_rate_is_wilsons():
    assert wilson(88, 100) == pytest.approx((0.8019, 0.9300), abs=5e-5)
    records = [{"right": place < 25} for place in range(25)]
    bounds = [column(records) for column in wilson_columns("right").values()]
    assert bounds == pytest.approx([86.68, 100], abs=5e-3)


def test_the_risk_is_the_share_of_errors_among_the_most_confident():
    errors = [True, False, True, False]
    found = risks([0.2, 0.9, 0.8, 0.5], errors)
    assert found == [0, 1 / 2, 1 / 3, 2 / 4]
    assert [risk_at(place, found) for place in (0.1, 0.25, 0.5, 0.6, 1.0)] == [0, 0, 0.5, 1 / 3, 0.5]
    assert best_risks(errors) == [0, 0, 1 / 3, 2 / 4]
    assert risks([0.5, 0.5, 0.9], [True, False, False]) == [0, 0.25, pytest.approx(1 / 3)]
    assert risks([0.5, 0.5, 0.9], [False, True, False]) == risks([0.5, 0.5, 0.9], [True, False, False])


NAME = "a|b\n<script>\x1b[31m& ![x](http://example.org/x.png)"
OUTCOME = Outcome((Table(NAME, ("x", NAME), ((NAME, 1.5),), judge=NAME),), notes=(NAME,))


def test_names_of_users_are_text_in_the_report():
    text, page = as_markdown(["# T"], OUTCOME), as_page(["# T"], OUTCOME, {})
    assert "| x | a\\|b &lt;script>\\x1b\\[31m&amp; !\\[x](http://example.org/x.png) |" in text
    assert "<td>a|b &lt;script&gt;\\x1b[31m&amp; ![x](http://example.org/x.png)</td>" in page
    for each in (text, page):
        assert not any(sign in each for sign in ("\x1b", "<script", "<img"))


def paper(paper_id="x", **values):
    return Paper.model_validate({"id": paper_id, **values})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2101.00001v12", "2101.00001"),
        ("arXiv:2101.00001v2", "2101.00001"),
        ("http://export.arxiv.org/pdf/2101.00001v1.pdf", "2101.00001"),
        ("10.48550/arXiv.2101.00001", "2101.00001"),
        ("math.AG/0601001", "math.ag/0601001"),
        ("10.1000/2101.00001", ""),
        ("12345678", ""),
        ("", ""),
    ],
)
def test_arxiv_ids_are_compared_without_address_and_version(text, expected):
    assert arxiv_id(text) == expected


FIRST = paper("first", title="Reading lists for everyone", url="https://arxiv.org/abs/2101.00001v1")
JUDGED = JudgedPapers.of(
    {"first": 2, "second": 1, "third": 0}, {"first": FIRST, "third": paper("third", doi="10.5555/third")}
)


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
    assert JUDGED.relevant == {"first", "second"}


def test_a_record_of_the_index_is_judged_by_its_id_alone_if_the_index_holds_the_judged_paper():
    judged = JudgedPapers.of({"first": 1}, {"first": FIRST}, held={"first"})
    same_title = paper("second", title=FIRST.title)
    assert judged.judged_id(same_title) is None
    assert judged.judged_id(same_title, own_id=False) == "first"
    assert JUDGED.judged_id(paper("second"), own_id=False) is None  # an id of another source
    assert JUDGED.known_ids([FIRST, paper("other"), paper("W1", title=FIRST.title)]) == ["first", "other"]


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
    assert not is_after(found, None)
