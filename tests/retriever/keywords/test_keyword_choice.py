"""Which words of a question become keywords, and in which order."""

import pytest

from indexer.corpora.papers import language_of
from retriever.queries.keywords import Keyword
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, index_of

# Every word of the questions below stands in one of these papers.
PAPERS = [
    {
        "id": "BATTERY",
        "title": "리튬 이온 배터리의 열폭주",
        "abstract": "최근 논문을 요약해 주고 그에 관한 것을 설명할 수 있다. 배터리를 식히면 값이 떨어진다.",
    },
    {
        "id": "SEA",
        "title": "해수면 상승을 측정하는 방법",
        "abstract": "누가 무엇을 재는지 적었다. 방법을 세 명이 낮추고 줄였다. 물이 줄어든다.",
    },
    {
        "id": "DISTILLATION",
        "title": "Approaches to knowledge distillation",
        "abstract": "Please provide a brief overview outlining the main approaches, and how they have done.",
    },
    {
        "id": "OTHER",
        "title": "방법",
        "abstract": "지식 그래프(knowledge graph)의 방법. The knowledge of methods.",
    },
    {"id": "MORE", "title": "지식 그래프", "abstract": "지식 그래프(knowledge graph)를 만든다."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("choice"), *PAPERS) as index:
        yield index


def keywords(index, question, method="paper", settings=None, **request):
    return [keyword.text for keyword in found(index, question, method, settings, **request).keywords]


def own_keywords(index, question, method="paper"):
    """Return the keywords of the question's language: what the general glossary adds may change."""
    chosen = found(index, question, method).keywords
    return [keyword.text for keyword in chosen if keyword.language == language_of(question)]


@pytest.mark.parametrize("method", ["paper", "shrag"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("리튬 이온 배터리의 열폭주에 관한 최근 논문을 요약해 줘", {"리튬", "이온", "배터리", "열폭주"}),
        ("누가 어떤 방법으로 해수면 상승을 측정했나요?", {"방법", "해수면", "상승", "측정"}),
        (
            "Please provide a brief overview outlining the main approaches to distillation",
            {"approaches", "distillation"},
        ),
    ],
)
def test_words_that_ask_or_request_are_no_keywords(index, question, expected, method):
    assert set(own_keywords(index, question, method)) == expected


def test_verbs_and_counters_come_behind_nouns_and_words_of_any_paper_behind_these(index):
    first, second, *others, last = own_keywords(index, "값이 줄고 떨어지며 세 명이 방법을 낮추는 배터리")

    assert [first, second] == ["값", "배터리"]
    assert set(others) == {"줄", "떨어지", "명", "낮추"}
    assert last == "방법"


@pytest.mark.parametrize("method", ["paper", "shrag"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("배터리 이후의 리튬", ["리튬", "배터리", "이후"]),
        ("How well has lithium worked in batteries since then?", ["lithium", "batteries", "well", "since"]),
        ("이후의 연구", ["이후"]),
    ],
)
def test_words_of_any_paper_are_the_first_keywords_only_if_there_are_no_others(
    index_of_rare_words, question, expected, method
):
    assert own_keywords(index_of_rare_words, question, method) == expected


@pytest.fixture(scope="module")
def index_of_rare_words(tmp_path_factory):
    """Make an index in which 이후, well and since are the rarest words."""
    papers = [
        {"id": "1", "title": "리튬 배터리", "abstract": "이후의 배터리."},
        {"id": "2", "title": "리튬 배터리", "abstract": "리튬."},
        {"id": "3", "title": "배터리", "abstract": "배터리의 값."},
        {"id": "4", "title": "Lithium batteries", "abstract": "Well made since."},
        {"id": "5", "title": "Lithium batteries", "abstract": "Lithium."},
        {"id": "6", "title": "Batteries", "abstract": "Batteries of cobalt."},
    ]
    with index_of(tmp_path_factory.mktemp("rare"), *papers) as index:
        yield index


def test_a_word_of_any_paper_that_a_rarer_word_is_translated_to_comes_last_too(tmp_path):
    papers = [
        {"id": "1", "title": "고정자(still)", "abstract": "고정자(still)와 회전자."},
        {"id": "2", "title": "고정자(still)", "abstract": "고정자."},
        {"id": "3", "title": "고정자", "abstract": "회전자와 고정자."},
        {"id": "4", "title": "회전자", "abstract": "회전자."},
    ]
    with index_of(tmp_path / "still", *papers) as index:
        assert keywords(index, "고정자")[-1] == "still"


def test_what_a_word_of_any_paper_is_translated_to_comes_last_too(tmp_path):
    papers = [
        {"id": "1", "title": "배터리의 효과(effect)", "abstract": "효과(effect)."},
        {"id": "2", "title": "효과(effect)와 리튬", "abstract": "리튬과 배터리."},
        *({"id": str(number), "title": "리튬", "abstract": "배터리의 값."} for number in range(3, 6)),
    ]
    with index_of(tmp_path / "translated", *papers) as index:
        assert keywords(index, "배터리의 효과")[0] == "배터리"
        assert set(keywords(index, "배터리의 효과")[1:]) == {"효과", "effect"}


def test_a_question_of_verbs_alone_has_them_as_keywords(index):
    assert own_keywords(index, "떨어지는가?") == ["떨어지"]


def test_words_of_the_request_are_keywords_where_the_index_holds_no_others(index):
    assert set(own_keywords(index, "천산갑 논문 요약")) == {"논문", "요약"}
    assert own_keywords(index, "누구?") == ["누구"]


def test_a_word_that_is_asked_for_twice_matters_more(index):
    assert own_keywords(index, "리튬 이온")[0] == "리튬"
    assert own_keywords(index, "리튬 이온, 또 이온")[0] == "이온"


def test_a_compound_is_as_important_as_its_parts_are_on_average(index):
    # 해수 and 면 stand in one paper each, as 상승 does.
    weights = {keyword.text: keyword.weight for keyword in found(index, "상승과 해수면", "paper").keywords}
    assert weights["해수면"] == pytest.approx(weights["상승"])


def test_what_a_request_word_is_translated_to_is_no_keyword_either(index_of_requests):
    assert keywords(index_of_requests, "요약과 배터리") == ["배터리"]
    assert keywords(index_of_requests, "요약") == ["요약", "summary"]


@pytest.fixture
def index_of_requests(tmp_path):
    papers = [
        {"id": "1", "title": "요약(summary)", "abstract": "배터리의 요약(summary)."},
        {"id": "2", "title": "요약(summary)", "abstract": "A summary."},
    ]
    with index_of(tmp_path / "requests", *papers) as index:
        yield index


GIVEN = (
    Keyword("knowledge", "en", ("knowledg",)),
    Keyword("요약", "ko", ("요약",)),
    Keyword("상승", "ko", ("상승",)),
    Keyword("axolotl", "en", ("axolotl",)),
)


def test_given_keywords_keep_their_order_unless_a_setting_says_otherwise(index):
    assert keywords(index, "지식의 상승", keywords=GIVEN) == ["knowledge", "요약", "상승", "axolotl"]

    ranked = RetrieverSettings(keywords_ranked=True, keywords=2)
    result = found(index, "지식의 상승", "paper", ranked, keywords=GIVEN)

    assert [keyword.text for keyword in result.keywords] == [
        "요약",
        "상승",
    ]  # one paper each, knowledge in three
    assert (result.applied.keyword_source, result.applied.keyword_ranking) == ("given", "tf-idf")


def test_where_there_are_fewer_than_ten_keywords_the_longest_query_stands_for_the_missing_ones(index):
    result = found(index, "리튬 상승", "paper")

    assert [(query.name, query.hits) for query in result.queries] == [("SQ2", 2), ("SQ1", 1)]
    # SQ10 … SQ2 rank SEA first and BATTERY second, SQ1 finds BATTERY alone.
    assert [(hit.passage_id, hit.score) for hit in result.hits] == [
        ("BATTERY", round(9 / 62 + 1 / 61, 4)),
        ("SEA", round(9 / 61, 4)),
    ]
