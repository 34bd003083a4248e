"""`shrag explain` and the result of `shrag search` say how a score came about, on real indexes."""

import asyncio
import json
import re
from typing import Any

import pytest

from base.terminal.columns import WIDTH_OF_A_FILE, display_width
from indexer.settings import EncoderSettings, IndexerSettings, RerankerSettings
from retriever.explaining.passages import explain
from retriever.explaining.text import explanation_lines
from retriever.explaining.words import KOREAN
from retriever.index import open_index
from retriever.search import SearchRequest, open_search, run_stages
from retriever.searching.penalties import EXCLUDED_LOSS
from retriever.settings import RetrieverSettings
from tests.generator.sample_index import shrag
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever import vector_contract
from tests.retriever.made_papers import found, indexed

NAME = "explained"
PAPERS: list[dict[str, Any]] = [
    {
        "id": "ARCHIVE",
        "title": "The Kestrel archive",
        "abstract": "The Kestrel archive of maps opened when its founder Miranda Oakley gave her letters.",
        "year": 2009,
    },
    {
        "id": "OAKLEY",
        "title": "Miranda Oakley",
        "abstract": "Miranda Oakley, a surveyor, was born in a harbour town.",
        "year": 2021,
    },
    {
        "id": "METHANE",
        "title": "논의 메탄(methane) 배출",
        "abstract": "논의 메탄(methane) 배출은 물을 빼면 줄었다. 벼의 수확량은 같았다.",
        "keywords": ["메탄", "methane"],
        "year": 2020,
    },
    {
        "id": "PADDIES",
        "title": "Methane from flooded paddies",
        "abstract": "Methane from flooded paddies falls when knowledge distillation (KD) of sensors drains.",
        "year": 2022,
    },
    *(
        {
            "id": f"SENSOR-{number}",
            "title": f"Sensors of village {number}",
            "abstract": f"Sensors by knowledge distillation (KD) of models in village {number}.",
            "year": 2020,
        }
        for number in range(4)
    ),
    *(
        {
            "id": f"FILL-{number}",
            "title": f"Filling {number}",
            "abstract": f"Plain words about topic {number}.",
        }
        for number in range(20)
    ),
]
SECOND_HOP = "Where was the founder of the Kestrel archive born?"
ACROSS = "물을 뺀 논의 methane 배출과 KD"
TIMED = "Methane of paddies in papers since 2021, other than distillation?"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("explaining")
    build(home, write_jsonl(home / "papers.jsonl", PAPERS), NAME)
    (home / "synonyms.txt").write_text("배출, drains\n", encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def index(home):
    with open_index(IndexerSettings(home=home), NAME) as index:
        yield index


def explained(index, question, passage_id, method="shrag", **settings):
    request = SearchRequest(question, method)
    return asyncio.run(explain(index, request, passage_id, RetrieverSettings(this_year=2026, **settings)))


def contributions(record):
    return sum(part["contribution"] for part in record["features"].values())


@pytest.mark.parametrize("question", [SECOND_HOP, ACROSS, TIMED, "methan paddys", "Filling topic"])
def test_parts_sum_to_the_score_of_the_search_and_concepts_to_their_part(index, question):
    for hit in found(index, question, settings=RetrieverSettings(this_year=2026)).hits:
        record = explained(index, question, hit.passage_id).as_record()

        assert record["order_score"] == pytest.approx(hit.score, abs=1e-4)
        assert contributions(record) == pytest.approx(record["order_score"])
        by_concept = sum(concept["contribution"] for concept in record["concepts"])
        assert by_concept == pytest.approx(record["features"]["base"]["contribution"])


def test_a_concept_names_what_scored_and_where_its_counterparts_come_from(index):
    def of_methane(passage_id, question="논의 메탄"):
        concepts = explained(index, question, passage_id).as_record()["concepts"]
        return next(concept for concept in concepts if "메탄" in concept["text"])

    assert of_methane("METHANE")["by"] == {"text": "메탄", "origin": "own"}
    other = of_methane("PADDIES")
    assert other["by"] == {"text": "methane", "origin": "corpus"}
    assert other["counterparts"] == [{"text": "methane", "origin": "corpus", "weight": 1.0}]
    assert other["score"] > 0
    none = of_methane("FILL-1")
    assert (none["by"], none["score"], none["contribution"]) == ({}, 0, 0)


def test_other_forms_synonyms_and_near_spellings_are_named(home, index):
    with open_index(IndexerSettings(home=home), NAME, home / "synonyms.txt") as with_synonyms:
        record = explained(with_synonyms, f"{ACROSS} sensorz", "PADDIES").as_record()

    origins = {other["text"]: other["origin"] for one in record["concepts"] for other in one["counterparts"]}
    assert origins["knowledge distillation"] == "abbreviation"
    assert origins["drains"] == "synonym"
    assert record["spellings"] == {"sensorz": ["sensor"]}
    [spelled] = [concept for concept in record["concepts"] if concept["text"] == "sensorz"]
    assert spelled["words"][0]["tokens"] == {"sensor": 0.8}


def test_a_second_search_is_accounted_for(index):
    record = explained(index, SECOND_HOP, "OAKLEY").as_record()

    assert record["names"] == ["Kestrel"]
    assert {"text": "Miranda Oakley", "passage_id": "ARCHIVE", "held": True} in record["bridges"]
    assert "born" in record["uncovered"]
    assert record["features"]["bridge"]["contribution"] > 0
    without = explained(index, SECOND_HOP, "OAKLEY", without=frozenset({"second-search"})).as_record()
    assert (without["bridges"], without["uncovered"]) == ([], {})


def test_constraints_say_what_they_cost(index):
    dear = explained(index, TIMED, "PADDIES").as_record()
    old = explained(index, TIMED, "METHANE").as_record()

    assert dear["constraints"] == [
        {"text": "excluded: distillation", "share": pytest.approx(1 / 3)},  # named once, in the text
        {"text": "years: since 2021", "share": 0.0},
    ]
    assert [constraint["share"] for constraint in old["constraints"]] == [0.0, 1.0]
    parts = [part["contribution"] for name, part in dear["features"].items() if name != "constraints"]
    assert dear["features"]["constraints"]["contribution"] == pytest.approx(-EXCLUDED_LOSS / 3 * sum(parts))


def test_a_passage_behind_another_of_its_paper_has_its_parts_too(tmp_path):
    texts = {"abstract": "도롱뇽과 개구리", "title2": "Limbs", "abstract2": "axolotl limbs"}
    papers = [
        {"id": "BOTH", "lang": "ko", "title": "양서류", **texts},
        *({"id": f"FROG-{number}", "title": f"개구리와 도롱뇽 {number}"} for number in range(2)),
        *({"id": f"FILL-{number}", "title": f"Filling {number}"} for number in range(20)),
    ]
    with indexed(IndexerSettings(home=tmp_path), papers) as index:
        accounts = [explained(index, "axolotl 도롱뇽 개구리", name) for name in ("BOTH", "BOTH@en")]

    assert accounts[0].shown == accounts[1].shown
    for account in accounts:
        assert account.order_score
        assert contributions(account.as_record()) == pytest.approx(account.order_score)


def test_feedback_names_the_strongest_terms_and_those_that_the_passage_holds(index):
    terms = explained(index, "knowledge distillation", "SENSOR-1").feedback

    assert 0 < len(terms) <= 10
    assert [term.share for term in terms] == sorted((term.share for term in terms), reverse=True)
    assert {term.term for term in terms if term.held} >= {"sensor", "villag"}
    assert not explained(
        index, "knowledge distillation", "SENSOR-1", without=frozenset({"feedback"})
    ).feedback


def test_a_cosine_has_its_part(tmp_path):
    with embedding_server() as server:
        encoder = EncoderSettings.model_validate(server.settings())
        with indexed(IndexerSettings(home=tmp_path, encoder=encoder), vector_contract.PAPERS) as index:
            record = explained(index, "axolotl", "AXOLOTL").as_record()
            nearest = explained(index, "axolotl", "AXOLOTL", "dense").as_record()

    assert record["features"]["cosine"] == {"value": 1.0, "weight": 1.0, "contribution": 1.0}
    assert contributions(record) == pytest.approx(record["order_score"])
    assert record["cosine"] == nearest["cosine"] == pytest.approx(nearest["order_score"])
    assert (record["feedback"], nearest["features"], nearest["concepts"]) == ([], {}, [])


def test_what_constraints_take_from_a_cosine_is_explained(tmp_path):
    question = "axolotl other than pangolin"
    with embedding_server() as server:
        encoder = EncoderSettings.model_validate(server.settings())
        with indexed(IndexerSettings(home=tmp_path, encoder=encoder), vector_contract.PAPERS) as index:
            account = explained(index, question, "BOTH", "dense")

    assert account.features.keys() == {"cosine", "constraints"}
    assert account.features["cosine"] == (pytest.approx(account.cosine), 1.0)
    assert contributions(account.as_record()) == pytest.approx(account.order_score)
    assert not any("first query" in line for line in explanation_lines(account))


def test_what_constraints_take_from_a_hit_behind_the_candidates_is_explained(tmp_path):
    papers = [
        {"id": f"P{number:03}", "title": f"Quokka {number}", "abstract": "Quokka and wombat.", "year": 2000}
        for number in range(130)
    ]
    with indexed(IndexerSettings(home=tmp_path), papers) as index:
        request = SearchRequest("quokka since 2015, other than wombat", collapse=False)
        settings = RetrieverSettings(this_year=2026, candidates="progressive", hits_per_query=5)
        stages = asyncio.run(run_stages(open_search(index, request, settings)))
        ranking = stages.ranking
        assert ranking
        assert ranking.scored
        behind = next(
            hit.passage_id
            for hit, _ in ranking.hits
            if hit.passage_id not in ranking.scored and hit.passage_id in ranking.losses
        )
        account = asyncio.run(explain(index, request, behind, settings))

    assert account.features.keys() == {"first query", "constraints"}
    assert contributions(account.as_record()) == pytest.approx(account.order_score)


@pytest.mark.needs_models
def test_what_a_cross_encoder_makes_of_a_score_is_a_part(tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    model = tiny_cross_encoder(tmp_path / "tiny")
    reranker = RerankerSettings(provider="local", model=str(model), device="cpu")
    with indexed(IndexerSettings(home=tmp_path / "home", reranker=reranker), PAPERS) as index:
        [hit, *_] = found(index, TIMED, settings=RetrieverSettings(this_year=2026)).hits
        record = explained(index, TIMED, hit.passage_id).as_record()

    assert "read again" in record["features"]
    assert record["order_score"] == pytest.approx(hit.score, abs=1e-4)
    assert contributions(record) == pytest.approx(record["order_score"])


def test_the_commands_text_has_the_same_and_only_what_had_a_part(home):
    def text(question, passage_id, *options):
        done = shrag("explain", question, passage_id, "--name", NAME, *options, home=home)
        assert done.returncode == 0, done.stderr
        assert all(display_width(line) <= WIDTH_OF_A_FILE for line in done.stdout.splitlines())
        return done.stdout

    hop = text(SECOND_HOP, "OAKLEY")
    assert "ARCHIVE names Miranda Oakley (held)" in hop
    assert "constraint" not in hop
    across = text("논의 메탄", "PADDIES")
    assert "methane (corpus's glossary)" in across
    assert "second search" not in across
    plain = text("methane", "PADDIES", "--method", "or")
    assert "concept" not in plain
    assert "feedback" not in plain


def test_columns_of_an_explanation_are_aligned_where_words_are_korean(home):
    done = shrag("explain", "논의 메탄 methane", "METHANE", "--name", NAME, home=home)
    header, *rows = done.stdout.splitlines()[1:4]

    edge = display_width(header[: header.index("BM25") + len("BM25")])
    for row in rows:
        score = row.split()[-2]
        assert display_width(row[: row.rindex(score) + len(score)]) == edge


def test_a_search_tells_concepts_bridges_and_the_second_search(home):
    done = shrag("search", SECOND_HOP, "--name", NAME, "--json", home=home)
    record = json.loads(done.stdout)

    assert {"text": "Miranda Oakley", "passage_id": "ARCHIVE"} in record["bridges"]
    assert any(
        note.startswith("also searched for Miranda Oakley, named in ARCHIVE") for note in record["notes"]
    )
    assert {"text", "weight", "counterparts"} == set().union(*record["concepts"])
    across = json.loads(shrag("search", "논의 메탄", "--name", NAME, "--json", home=home).stdout)
    [methane] = [concept for concept in across["concepts"] if concept["text"] == "메탄"]
    assert methane["counterparts"] == [{"text": "methane", "origin": "corpus"}]
    assert across["bridges"] == []
    baseline = shrag("search", "논의 메탄", "--name", NAME, "--json", "--method", "or", home=home)
    assert json.loads(baseline.stdout)["concepts"] == []


@pytest.mark.parametrize("method", ["or", "paper", "shrag"])
def test_an_explanation_in_korean_says_the_same(index, method):
    account = explained(index, "메탄 methane other than sensors", "METHANE", method)
    english = list(explanation_lines(account))
    korean = list(explanation_lines(account, "ko"))
    assert len(korean) == len(english)
    assert korean[0] == english[0]
    of_english = re.compile(r"\b(rank|score|concept|weight|importance|value|term|field|by|from)\b")
    assert any(map(of_english.search, english[1:]))
    assert not any(map(of_english.search, korean[1:]))


def test_the_words_of_both_languages_hold_the_same_values():
    for english, korean in KOREAN.items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", korean))
