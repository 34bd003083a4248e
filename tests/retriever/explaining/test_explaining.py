"""An explanation gives the score of the search, in parts that add up, for any number of hits."""

import pytest

from indexer.settings import IndexerSettings
from retriever.explaining import explain
from retriever.index import open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import found

NAME = "explained"
PAPERS = [
    {
        "id": "ARCHIVE",
        "title": "The Kestrel archive",
        "abstract": "The Kestrel archive of maps opened when its founder Miranda Oakley gave her letters.",
    },
    {
        "id": "OAKLEY",
        "title": "Miranda Oakley",
        "abstract": "Miranda Oakley, a surveyor, was born in a harbour town.",
    },
    {
        "id": "METHANE",
        "title": "논의 메탄(methane) 배출",
        "abstract": "논의 메탄(methane) 배출은 물을 빼면 줄었다. 벼의 수확량은 같았다.",
        "keywords": ["메탄", "methane"],
    },
    {
        "id": "PADDIES",
        "title": "Methane from flooded paddies",
        "abstract": "Methane from flooded paddies falls when the sensors of a field say that water drains.",
    },
    *(
        {"id": f"FILL-{n}", "title": f"Filling {n}", "abstract": f"Plain words of topic {n}."}
        for n in range(20)
    ),
]
SECOND_HOP = "Where was the founder of the Kestrel archive born?"
STRATEGY = Strategy().with_keywords(["메탄", "논", "methane", "paddies"]).changed(origin="model")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    home = tmp_path_factory.mktemp("explaining")
    build(home, write_jsonl(home / "papers.jsonl", PAPERS), NAME)
    with open_index(IndexerSettings(home=home), NAME) as index:
        yield index


def explained(index, question, passage_id, method="shrag", **request):
    return explain(index, SearchRequest(question, method, **request), passage_id, RetrieverSettings())


def contributions(account):
    return sum(part["contribution"] for part in account.as_record()["features"].values())


@pytest.mark.parametrize("method", ["shrag", "or", "paper"])
@pytest.mark.parametrize("k", [1, 200])
@pytest.mark.parametrize(
    ("question", "strategy"),
    [
        (SECOND_HOP, None),
        ("논의 메탄 배출", None),
        ("methane of paddies -sensors", None),
        ("methan paddys", None),
        ("배출을 줄이는 법", STRATEGY),
    ],
)
def test_the_parts_add_up_to_the_score_of_the_search(index, question, strategy, k, method):
    result = found(index, question, method, k=k, strategy=strategy)
    assert result.hits
    for hit in result.hits[:5]:
        account = explained(index, question, hit.passage_id, method, strategy=strategy)
        assert account.rank == hit.rank
        assert account.order_score == pytest.approx(hit.score, abs=1e-4)
        assert contributions(account) == pytest.approx(account.order_score)


def test_the_tokens_add_up_to_the_parts_of_words(index):
    account = explained(index, "논의 메탄 배출을 줄이는 법", "PADDIES", strategy=STRATEGY)
    record = account.as_record()

    by_field = {
        field: sum(term["score"] for term in record["terms"] if term["field"] == field)
        for field in ("question", "en", "ko", "synonyms")
    }
    assert record["language"] == "en"
    assert by_field["en"] == pytest.approx(record["features"]["keywords"]["contribution"])
    assert by_field["synonyms"] == pytest.approx(record["features"]["synonyms"]["contribution"])
    assert (by_field["question"], by_field["ko"]) == (0, 0)
    [methane] = [term for term in record["terms"] if term["token"] == "methane" and term["field"] == "en"]
    assert (methane["weight"], methane["frequency"], methane["document_frequency"]) == (3.0, 2.0, 2)
