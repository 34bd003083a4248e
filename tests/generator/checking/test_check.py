"""The check of a sentence without a model: verbatim sentences, and hints."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.checking import check_sentence, quantities
from tests.generator.sample_index import passage
from tools.hints import RECORDED, hint_rows, hints_of, recorded_claims, sample_claims

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "hints.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
FLAGGED, CAUGHT = 0.03, 0.9  # shares of supported claims, and of wrong numbers, units and passages


@pytest.mark.parametrize(("sentence", "cited", "hints"), ROWS)
def test_hints(sentence, cited, hints):
    check, found = check_sentence(sentence, [passage("P", cited)])
    assert "; ".join(f"{hint.code} {hint.values['text']}" for hint in found) == hints
    assert check == "not checked"


@pytest.mark.parametrize(
    "sentence",
    [
        "Yield fell  by 3.5 %",
        "yield fell by 3.5 %.",
        "Yield fell by 3.5 ％.",
        "In 2019 the dykes broke. Yield fell by 3.5 %.",
    ],
    ids=repr,
)
def test_the_words_of_a_passage_are_supported(sentence):
    cited = passage("P", "In 2019 the dykes broke. Yield fell by 3.5 %. Prices rose.")
    assert check_sentence(sentence, [cited]) == ("supported", ())
    assert check_sentence(sentence.replace("3.5", "35"), [cited])[0] == "not checked"


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ("수율이 높아졌다.", "수율이 높아졌다는 증거는 없었다."),
        ("The drug was effective.", "It is not true that the drug was effective."),
        ("Yield fell by 3.", "Yield fell by 3.5 %."),
        ("Mortality fell by 1", "Mortality fell by 12 %."),
    ],
)
def test_a_part_of_a_sentence_is_no_sentence(sentence, cited):
    assert check_sentence(sentence, [passage("P", cited)])[0] == "not checked"


def test_few_claims_of_the_sample_are_flagged_wrongly():
    rows = measured(list(sample_claims()))
    assert sum(row["supported with hint"] for row in rows) <= FLAGGED * sum(row["supported"] for row in rows)
    assert sum(row["unsupported with hint"] for row in rows) >= 45


def test_recorded_answers_of_a_large_model(shared_data):
    claims = list(recorded_claims(shared_data / "answers"))
    if not claims:
        pytest.skip("shared evaluation data: recorded answers are not present")
    rows = {row["kind"]: row for row in measured(claims)}
    assert rows["all"]["supported with hint"] <= FLAGGED * rows["all"]["supported"]
    wrong = [rows[f"wrong {kind}"] for kind in ("number", "unit", "passage cited")]
    assert sum(row["unsupported with hint"] for row in wrong) >= CAUGHT * sum(
        row["unsupported"] for row in wrong
    )
    assert {claim.of for claim in claims} == {RECORDED}


def measured(claims):
    return hint_rows(hints_of(claims))


@given(st.text(alphabet="0123456789., %만천억배분g/mL½①٣-~percent\n", max_size=60))
def test_any_text_of_numbers_is_read_and_reports_itself(text):
    found = quantities(text)
    assert all(quantity.reports(quantity) for quantity in found)
    check, hints = check_sentence(f"x {text} y", [passage("P", f"a {text} b")])
    assert hints == ()
    assert check == "not checked"
