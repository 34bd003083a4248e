"""The whole order on small indexes: what each of its parts adds, and a question that takes two passages."""

import asyncio
import json
import subprocess

import pytest
from pydantic import ValidationError

from indexer.glossary.given import read_glossary
from retriever.explaining.passages import explain
from retriever.queries.boolean import searched_tokens
from retriever.queries.filters import make_filters
from retriever.search import SearchRequest, open_search, run_stages
from retriever.settings import RetrieverSettings
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import command, environment_of
from tests.retriever.made_papers import found, ids, index_of, run_of

# The answer shares no word with its question, but the founder's name with the passage that names the founder.
ENGLISH = "Which profession had the founder of the Silberberg Observatory?"
KOREAN = "한라 천문대를 설립한 사람의 직업은?"
HOPS = {
    ENGLISH: [
        ("NAMED", "Silberberg Observatory", "It stands on a hill and was founded in 1893 by Marta Quillon."),
        ("ANSWER", "Marta Quillon", "Marta Quillon came from Valparaiso and drew maps of comets."),
        ("BESIDE", "Work and income", "Every profession has an income of its own, says this survey."),
        *((f"F{number}", f"Study {number}", f"Plain words on topic {number}.") for number in range(12)),
    ],
    KOREAN: [
        ("NAMED", "한라 천문대", "한라 천문대는 언덕 위에 있다. 1893년에 박지원이 설립하였다."),
        ("ANSWER", "박지원", "박지원은 혜성의 지도를 그렸다."),
        ("BESIDE", "일과 소득", "직업마다 소득이 다르다는 조사이다."),
        *((f"F{number}", f"연습 {number}", f"평범한 말 {number}.") for number in range(12)),
    ],
}
PARTS_QUESTION = "누가 KD 손실과 지식 그래프를 쓰는가"
PARTS = [
    {
        "id": "EN",
        "title": "Losses",
        "abstract": "A knowledge graph and a loss, of knowledge distillation (KD).",
    },
    {
        "id": "KO",
        "title": "손실의 비교",
        "abstract": "지식 그래프(knowledge graph)와 손실을 쓰는 증류를 비교한다.",
    },
    {"id": "KO-2", "title": "손실의 비교", "abstract": "증류의 손실을 지식 그래프로 줄인다."},
    {"id": "LONG", "title": "Teachers", "abstract": "Knowledge distillation shrinks what a graph holds."},
    *(
        {"id": f"F{number:02}", "title": f"연습 {number}", "abstract": f"평범한 말과 쓰는 법 {number}."}
        for number in range(20)
    ),
]
# One of the seven papers on BERT is in the other language, and ends last.
BERTS = [
    {"id": "EN", "title": "Plants", "abstract": "Many words of plants and once of BERT, in a survey."},
    *({"id": f"K{n}", "title": f"BERT {n}", "abstract": "벼의 생육" + "과 논" * n} for n in range(6)),
    *({"id": f"F{n}", "title": f"연습 {n}", "abstract": "평범한 말."} for n in range(9)),
]


def papers(rows):
    return [
        {"id": paper, "title": title, "abstract": text, "year": 1999 if paper == "ANSWER" else 2000}
        for paper, title, text in rows
    ]


@pytest.fixture(scope="module", params=HOPS, ids=["English", "Korean"])
def hop(request, tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("hop"), *papers(HOPS[request.param])) as index:
        yield index, request.param


def in_process(home, question, seed):
    """Search in a process of its own whose sets are ordered by `seed`."""
    done = subprocess.run(
        command("search", question, "--name", "own", "--json"),
        env=environment_of(home) | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout) | {"milliseconds": {}}


@pytest.fixture(scope="module")
def parts_index(tmp_path_factory):
    home = tmp_path_factory.mktemp("parts")
    glossary = home / "glossary.tsv"
    glossary.write_text("손실\tloss\n지식 그래프\tknowledge graph\n", encoding="utf-8")
    with index_of(home, *PARTS, glossary=read_glossary(glossary)) as index:
        yield index


def staged(index, question, *without, upto="ranking"):
    context = open_search(index, SearchRequest(question), RetrieverSettings(without=frozenset(without)))
    return asyncio.run(run_stages(context, upto=upto))


def parts_of(index, *without):
    """Return the parts of each candidate's score."""
    scored = staged(index, PARTS_QUESTION, *without).ranking.scored
    return {passage_id: scored.parts_of(passage_id) for passage_id in scored.ids}


def second_searches(result):
    return [query for query in result.queries if query.name == "bridges"]


# In so small an index the terms of the best passage find what its names do.
BY_NAMES = RetrieverSettings(without=frozenset({"feedback"}))
BY_NEITHER = RetrieverSettings(without=frozenset({"feedback", "second-search"}))


def test_the_passage_behind_a_name_is_found_by_a_second_search(hop):
    index, question = hop

    result = found(index, question, settings=BY_NAMES)

    assert [hit.passage_id for hit in result.hits] == ["NAMED", "ANSWER", "BESIDE"]
    assert result.hits[1].found_by == ("bridges",)
    assert len(second_searches(result)) == 1


def test_without_the_second_search_it_is_not_found(hop):
    index, question = hop

    result = found(index, question, settings=BY_NEITHER)

    assert [hit.passage_id for hit in result.hits] == ["NAMED", "BESIDE"]
    assert second_searches(result) == []


def test_a_paper_that_feedback_alone_found_is_not_shown_but_ranked(hop):
    index, question = hop
    settings = RetrieverSettings(without=frozenset({"second-search"}))

    assert ids(index, question, settings=settings) == ["NAMED", "BESIDE"]
    assert "ANSWER" in dict(run_of(index, question, "shrag", settings))


def test_a_question_without_a_name_is_searched_for_once(tmp_path):
    with index_of(tmp_path, *papers(HOPS[ENGLISH])) as index:
        assert second_searches(found(index, "which profession had a founder on a hill?")) == []


def test_a_question_that_one_passage_covers_is_searched_for_once(tmp_path):
    with index_of(tmp_path, *papers(HOPS[ENGLISH])) as index:
        assert second_searches(found(index, "Silberberg Observatory founded in 1893 on a hill")) == []


def test_a_second_search_keeps_to_the_filters(hop):
    index, question = hop

    assert ids(index, question, filters=make_filters("2000..", None, None)) == ["NAMED", "BESIDE"]
    assert ids(index, question, filters=make_filters("..1999", None, None)) == []


def test_a_second_search_brings_no_paper_without_an_abstract(tmp_path):
    incomplete = {"id": "ANSWER", "title": "Marta Quillon"}
    complete = [paper for paper in papers(HOPS[ENGLISH]) if paper["id"] != "ANSWER"]
    with index_of(tmp_path, incomplete, *complete) as index:
        kept = RetrieverSettings(drop_incomplete=False)

        assert ids(index, ENGLISH) == ["NAMED", "BESIDE"]
        assert "ANSWER" in ids(index, ENGLISH, settings=kept)


def test_with_a_second_search_no_more_hits_come_than_are_asked_for(hop):
    index, question = hop

    assert ids(index, question, k=1, settings=BY_NAMES) == ["NAMED"]
    assert ids(index, question, k=2, settings=BY_NAMES, collapse=False) == ["NAMED", "ANSWER"]


def test_a_search_again_gives_the_same(hop):
    index, question = hop

    first, second = found(index, question).as_record(), found(index, question).as_record()

    assert first | {"milliseconds": {}} == second | {"milliseconds": {}}


def test_another_process_gives_the_same(tmp_path):
    index_of(tmp_path, *papers(HOPS[ENGLISH])).close()

    first, second = (in_process(tmp_path, ENGLISH, seed) for seed in (1, 2))

    assert any(query["name"] == "bridges" for query in first["queries"])
    assert first == second


def test_what_a_second_search_adds_is_explained(hop):
    index, question = hop

    account = asyncio.run(explain(index, SearchRequest(question), "ANSWER", BY_NAMES))

    assert account.rank == 2
    value, weight = account.features["title in passage"]
    assert value * weight > 0


@pytest.mark.parametrize("question", ["the of", "zzyzx qwrtplk", "Zzyzx Qwrtplk", "?!", "쀍뚫쀍"])
def test_nothing_is_found_by_stop_words_signs_or_words_of_no_passage(hop, question):
    index, _ = hop

    assert ids(index, question) == []


@pytest.mark.parametrize("question", HOPS)
def test_an_index_of_one_paper_without_a_word_of_the_question_finds_nothing(tmp_path, question):
    with index_of(tmp_path, {"id": "P1", "title": "Axolotl", "abstract": "Axolotl."}) as index:
        assert ids(index, question) == []


@pytest.mark.parametrize("part", ["feedback", "neighbours"])
def test_a_feature_that_is_left_out_has_no_part_and_the_others_are_as_they_were(parts_index, part):
    full, less = (parts_of(parts_index, "second-search", "same-title", *without) for without in ([], [part]))

    assert any(part in of for of in full.values())
    assert less == {
        passage_id: {name: value for name, value in of.items() if name != part}
        for passage_id, of in full.items()
    }


def test_passages_of_one_title_share_nothing_where_that_is_left_out(parts_index):
    full, less = parts_of(parts_index), parts_of(parts_index, "same-title")

    assert {passage_id for passage_id, of in full.items() if "same title" in of} == {"KO", "KO-2"}
    for of in full.values():
        of.pop("same title", None)
    assert less == full


def test_the_other_language_keeps_its_place_where_its_lift_is_left_out(tmp_path):
    with index_of(tmp_path, *BERTS) as index:
        lifted = ids(index, "BERT 생육")
        plain = ids(index, "BERT 생육", settings=RetrieverSettings(without=frozenset({"other-language"})))

    assert lifted.index("EN") == 3
    assert plain[-1] == "EN"
    assert [paper for paper in lifted if paper != "EN"] == plain[:-1]


def test_words_weigh_alike_where_weights_are_left_out(parts_index):
    full, less = (
        staged(parts_index, PARTS_QUESTION, *without, upto="keywords").keywords
        for without in ([], ["weights"])
    )

    def weights(chosen):
        return {
            token: share
            for concept in chosen.concepts
            for word in concept.words
            for ((_, token),), share in word.spellings.items()
        }

    assert set(weights(less).values()) == {1.0}
    assert {token for token, share in weights(full).items() if share < 1} == {"누구"}
    assert less.keywords == full.keywords


def test_no_counterpart_is_searched_for_where_they_are_left_out(parts_index):
    full, less = (
        staged(parts_index, PARTS_QUESTION, *without, upto="plan") for without in ([], ["counterparts"])
    )

    assert not any(concept.counterparts for concept in less.keywords.concepts)
    more, fewer = (set(searched_tokens(of.plan.query("question"))) for of in (full, less))
    assert more - fewer == {"loss", "knowledg", "graph", "distil"}
    assert not fewer - more
    assert less.keywords.keywords == full.keywords.keywords


def test_nothing_is_lifted_where_a_word_has_a_counterpart_though_counterparts_are_left_out(tmp_path):
    glossary = tmp_path / "glossary.tsv"
    glossary.write_text("생육\tgrowth\n", encoding="utf-8")
    growth = {"id": "G", "title": "낱말", "abstract": "다른 나라의 낱말 growth 하나."}
    with index_of(tmp_path, *BERTS, growth, glossary=read_glossary(glossary)) as index:
        for without in ([], ["counterparts"]):
            scored = staged(index, "BERT 생육", *without).ranking.scored
            assert "EN" in scored
            assert "other language" not in scored.parts


def test_other_forms_are_no_counterparts_where_they_are_left_out(parts_index):
    full, less = (
        staged(parts_index, PARTS_QUESTION, *without, upto="keywords").keywords
        for without in ([], ["word-forms"])
    )

    def origins(chosen):
        return {other.origin for concept in chosen.concepts for other in concept.counterparts}

    assert origins(full) - origins(less) == {"abbreviation"}
    assert origins(less)


def test_what_was_left_out_stands_in_what_took_effect(parts_index):
    settings = RetrieverSettings(without=frozenset({"feedback", "neighbours"}))

    assert found(parts_index, "손실", settings=settings).applied.without == ("feedback", "neighbours")
    assert found(parts_index, "손실", "or", settings=settings).applied.without is None


def test_an_unknown_part_is_an_error_that_names_those_there_are():
    with pytest.raises(ValidationError, match="'second-search'"):
        RetrieverSettings.model_validate({"without": ["nonsense"]})


def test_an_unknown_part_is_one_line_and_exit_2(tmp_path, monkeypatch):
    monkeypatch.setenv("SHRAG_WITHOUT", json.dumps(["nonsense"]))

    done = shrag("search", "x", "--name", "papers", home=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("SHRAG_WITHOUT")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("feedback, second-search", {"feedback", "second-search"}),
        ('["feedback", "second-search"]', {"feedback", "second-search"}),
        ("", set()),
        ("[" * 5000, set()),
    ],
)
def test_parts_are_written_with_commas_or_as_json(written, parts, monkeypatch):
    monkeypatch.setenv("SHRAG_WITHOUT", written)

    assert RetrieverSettings().without == parts
