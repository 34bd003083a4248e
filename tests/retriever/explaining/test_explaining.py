"""An explanation gives the score of the search, in parts that add up, for any number of hits."""

import re

import pytest

from indexer.settings import EncoderSettings, IndexerSettings, RerankerSettings
from retriever.explaining import explain, explanation_lines
from retriever.index import open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever import vector_contract
from tests.retriever.made_papers import found, indexed

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


def test_an_exclusion_is_a_loss(index):
    account = explained(index, "methane of paddies -sensors", "PADDIES")
    loss = account.features["exclusions"]
    assert (loss.weight, loss.contribution) == (-1.0, -loss.value)
    assert loss.value > 0


def test_a_cosine_is_a_part_of_a_convex_sum(tmp_path):
    with embedding_server() as server:
        encoder = EncoderSettings.model_validate(server.settings())
        with indexed(IndexerSettings(home=tmp_path, encoder=encoder), vector_contract.PAPERS) as index:
            both = explained(index, "axolotl", "AXOLOTL")
            nearest = explained(index, "axolotl", "AXOLOTL", "dense")

    assert both.features["cosine"].weight == 0.7
    assert contributions(both) == pytest.approx(both.order_score)
    assert nearest.features.keys() == {"cosine"}
    assert both.features["cosine"].value == pytest.approx(nearest.order_score)


@pytest.mark.needs_models
def test_the_order_of_a_cross_encoder_is_a_part(tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    model = tiny_cross_encoder(tmp_path / "tiny")
    reranker = RerankerSettings(provider="local", model=str(model), device="cpu")
    with indexed(IndexerSettings(home=tmp_path / "home", reranker=reranker), PAPERS) as index:
        [hit, *_] = found(index, "methane").hits
        account = explained(index, "methane", hit.passage_id)

    assert "cross-encoder" in account.features
    assert account.order_score == pytest.approx(hit.score, abs=1e-4)
    assert contributions(account) == pytest.approx(account.order_score)


def test_an_explanation_in_korean_has_no_english_word(index):
    account = explained(index, "메탄 methane -sensors", "METHANE")
    english, korean = list(explanation_lines(account)), list(explanation_lines(account, "ko"))
    assert len(korean) == len(english) > 5
    assert not re.search(
        r"\b(rank|score|weight|value|term|field|by|question|keywords)\b", "".join(korean[1:])
    )
