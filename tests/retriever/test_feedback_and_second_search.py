"""Searches after the plan: terms of the best passages, and the names in them that lead to others."""

import json
import subprocess
from math import log

import pytest

from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.indexer.made_corpora import command, environment_of
from tests.retriever.made_papers import found, ids, index_fixture, index_of

PLAIN = "Plain words on topic {0}, 평범한 말 {0}."
MARSUPIALS = [
    ("BEST", "", "Quokkas eat grass on an island beside a burrow. Wallabies, 1998, 1998 and a paddock."),
    ("WALLABY", "", "Many wallabies of 1998 have pouches."),
    *((f"F{number:02}", "", PLAIN.format(number)) for number in range(12)),
]
MARSUPIAL_QUESTION = "Which grass do quokkas eat on the island beside a burrow?"
# The answer shares no word with its question, but the founder's name with the passage on the observatory.
ENGLISH = "Which profession had the founder of the Silberberg Observatory?"
KOREAN = "한라 천문대를 설립한 사람의 직업은?"
HOPS = {
    ENGLISH: [
        ("NAMED", "Silberberg Observatory", "It stands on a hill and was founded in 1893 by Marta Quillon."),
        ("ANSWER", "Marta Quillon", "Marta Quillon came from Valparaiso and drew maps of comets."),
        ("BESIDE", "Work and income", "Every profession has an income of its own, says this survey."),
    ],
    KOREAN: [
        ("NAMED", "한라 천문대", "한라 천문대는 언덕 위에 있다. 1893년에 박지원이 설립하였다."),
        ("ANSWER", "박지원", "박지원은 혜성의 지도를 그렸다."),
        ("BESIDE", "일과 소득", "직업마다 소득이 다르다는 조사이다."),
    ],
}
STRATEGY = Strategy(en=("Silberberg Observatory", "founder"), ko=("한라 천문대", "설립"), origin="model")
STEPS = STRATEGY.changed(steps=["Who founded the observatory?", "What was the profession of the founder?"])
WITHOUT_FEEDBACK = RetrieverSettings(without=frozenset({"feedback"}))


def papers(rows):
    return [
        {"id": paper, "title": title, "abstract": text, "year": 1999 if paper == "ANSWER" else 2000}
        for paper, title, text in rows
    ]


def hops(question):
    return papers([*HOPS[question], *((f"F{n}", f"연습 {n}", PLAIN.format(n)) for n in range(12))])


marsupials = index_fixture(*papers(MARSUPIALS))


@pytest.fixture(scope="module", params=HOPS, ids=["English", "Korean"])
def hop(request, tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("hop"), *hops(request.param)) as index:
        yield index, request.param


def ranking_of(index, question, settings=None, **request):
    context = open_ranking(index, SearchRequest(question, **request), settings or RetrieverSettings())
    return run_stages(context).ranking


def names_of_queries(result):
    return {query.name for query in result.queries}


def test_feedback_terms_of_the_best_passage_weigh_their_idf(marsupials):
    """Numbers and terms of a single passage are left out; two of fourteen passages hold the other one."""
    ranking = ranking_of(marsupials, MARSUPIAL_QUESTION)

    assert ranking.feedback == pytest.approx({"wallabi": log(1 + 12.5 / 2.5)})
    assert ranking.scored.parts_of("WALLABY").keys() == {"feedback"}
    assert ids(marsupials, MARSUPIAL_QUESTION)[0] == "BEST"


def test_feedback_finds_papers_and_is_described_in_their_words(marsupials):
    result = found(marsupials, MARSUPIAL_QUESTION)

    assert [hit.found_by for hit in result.hits if hit.doc_id == "WALLABY"] == [("feedback",)]
    assert [query.query for query in result.queries if query.name == "feedback"] == ["wallabies"]
    assert "WALLABY" not in ids(marsupials, MARSUPIAL_QUESTION, settings=WITHOUT_FEEDBACK)
    assert "WALLABY" not in ids(marsupials, MARSUPIAL_QUESTION, skip=("feedback",))


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        (MARSUPIAL_QUESTION, {"strategy": Strategy(en=("quokka",))}),
        (MARSUPIAL_QUESTION, {"keywords": ("quokka",)}),
        ("quokka island", {}),
    ],
    ids=["model", "person", "few words"],
)
def test_only_a_strategy_of_statistics_for_a_sentence_has_feedback(marsupials, question, request_):
    result = found(marsupials, question, **request_)

    assert result.hits[0].doc_id == "BEST"
    assert "feedback" not in names_of_queries(result)


def test_a_name_in_the_best_passage_leads_to_another(hop):
    index, question = hop

    result = found(index, question, settings=WITHOUT_FEEDBACK)

    assert {hit.doc_id for hit in result.hits} == {"NAMED", "ANSWER", "BESIDE"}
    assert result.hits[0].doc_id == "NAMED"
    assert [hit.found_by for hit in result.hits if hit.doc_id == "ANSWER"] == [("bridges",)]
    [bridge] = result.bridges
    assert (bridge.passage_id, bridge.text) == ("NAMED", HOPS[question][1][1])
    assert f"also searched for {bridge.text}, named in NAMED" in result.notes


def test_a_strategy_has_a_second_search_only_with_steps(hop):
    index, question = hop

    assert ids(index, question, strategy=STRATEGY) == ["NAMED", "BESIDE"]
    assert ids(index, question, strategy=STEPS) == ["NAMED", "ANSWER", "BESIDE"]


def test_a_replayed_strategy_gives_equal_bytes_in_another_process(tmp_path):
    index_of(tmp_path, *hops(ENGLISH)).close()
    file = tmp_path / "strategy.json"
    file.write_text(json.dumps(STEPS.as_record()), encoding="utf-8")

    def hits(seed, *options):
        done = subprocess.run(
            command("search", ENGLISH, "--name", "own", "--json", *options),
            env=environment_of(tmp_path) | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        )
        return json.dumps(json.loads(done.stdout) | {"milliseconds": {}})

    assert hits(1, "--strategy", file) == hits(2, "--strategy", file)
    assert hits(1) == hits(2)
