"""Papers without an abstract, listed behind hits that are fewer than asked for."""

import pytest

from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, index_of, run_of

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


def test_a_run_does_not_list_it_apart(tmp_path):
    with index_of(tmp_path, BARE, WHOLE) as index:
        assert [one for one, _ in run_of(index, "smoking")] == ["BARE", "WHOLE"]
        kept = found(index, "smoking", settings=RetrieverSettings(drop_incomplete=False))

    assert {hit.doc_id for hit in kept.hits} == {"BARE", "WHOLE"}
    assert kept.title_only == ()
