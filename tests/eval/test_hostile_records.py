"""Records that were written to deceive hide no paper, fill no evidence and are hardly cited."""

import json

import pytest
from click.testing import CliRunner

from eval.experiments import duplicates, hostile_records
from tests.needs import mostly_nightly

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "attack",
    mostly_nightly(
        [
            "claimed DOI",
            "claimed record",
            "copies",
            "copies with another figure",
            "copies with characters within words",
            "copies with a false second abstract",
            "copies in look-alike letters",
            "wrapped questions, English",
            "wrapped questions, Korean",
            "questions as statements",
            "keywords",
        ],
        by_day={"claimed DOI", "wrapped questions, Korean"},
    ),
)
def test_every_question_of_the_sample_is_still_answered_from_its_papers(attack):
    done = CliRunner().invoke(hostile_records.main, ["--attack", attack, "--json"])

    [row] = json.loads(done.stdout)["rows"]
    assert (row["questions"], row["Success@5"], row["repeated"]) == (35, 35, 0)
    assert row["records"] >= 1
    assert row["cited"] <= 3


@pytest.mark.nightly
def test_copies_without_a_sentence_are_repeated_only_of_versions_that_are_folded_themselves():
    done = CliRunner().invoke(hostile_records.main, ["--attack", "copies without a sentence", "--json"])

    [row] = json.loads(done.stdout)["rows"]
    assert row["Success@5"] == 35
    assert row["cited"] <= 3
    assert row["repeated"] <= 8


def test_of_the_sample_two_papers_are_folded(tmp_path):
    done = CliRunner().invoke(duplicates.main, ["--data", tmp_path, "--list"])

    assert "SAMPLE-BAT-012" in done.stderr
    assert done.stdout.splitlines()[1].split() == ["sample", "120", "2", "2"]
