"""Papers without an abstract, listed behind hits that are fewer than asked for."""

import json

import pytest

from retriever.settings import RetrieverSettings
from tests.generator.sample_index import shrag
from tests.retriever.made_papers import found, index_of, run_of

pytest_plugins = ["tests.generator.sample_index"]

BARE = {"id": "BARE", "title": "Smoking cessation counselling by pharmacists of a community", "year": 2016}
WHOLE = {"id": "WHOLE", "title": "Wards", "abstract": "Smoking was banned in wards.", "year": 2016}
NOTE = "1 paper without an abstract matches by its title"


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
def test_a_paper_without_an_abstract_is_listed_behind_the_others(tmp_path, method):
    with index_of(tmp_path, BARE, WHOLE) as index:
        result = found(index, "smoking", method)

    assert [(hit.rank, hit.doc_id, hit.title_only) for hit in result.listed] == [
        (1, "WHOLE", False),
        (2, "BARE", True),
    ]
    assert [hit.doc_id for hit in result.hits] == ["WHOLE"]
    assert NOTE in result.notes
    assert result.filtered["incomplete"] == 0


def test_it_takes_no_place_of_a_hit(tmp_path):
    with index_of(tmp_path, BARE, WHOLE) as index:
        result = found(index, "smoking cessation", k=1)

    assert [hit.doc_id for hit in result.listed] == ["WHOLE"]
    assert NOTE not in result.notes
    assert result.filtered["incomplete"] == 1


def test_a_title_of_a_listed_paper_is_no_other_paper(tmp_path):
    with index_of(
        tmp_path, BARE, BARE | {"id": "ABSTRACT", "abstract": "Pharmacists help smokers."}
    ) as index:
        result = found(index, "smoking cessation")

    assert [hit.doc_id for hit in result.listed] == ["ABSTRACT"]


def test_a_run_does_not_list_it_apart(tmp_path):
    with index_of(tmp_path, BARE, WHOLE) as index:
        assert [one for one, _ in run_of(index, "smoking")] == ["BARE", "WHOLE"]
        kept = found(index, "smoking", settings=RetrieverSettings(drop_incomplete=False))

    assert {hit.doc_id for hit in kept.hits} == {"BARE", "WHOLE"}
    assert kept.title_only == ()


def test_a_search_of_the_sample_marks_it(sample_home):
    done = shrag("search", "금연 상담", "--name", "sample", "--json", home=sample_home)

    [hit] = json.loads(done.stdout)["hits"]
    assert (hit["doc_id"], hit["title_only"], hit["snippet"]) == ("SAMPLE-NUR-011", True, "")
    assert hit["title_marks"]
