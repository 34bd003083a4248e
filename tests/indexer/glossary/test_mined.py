"""Pairs mined from brackets, keyword lists and titles."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.corpora.papers import Paper
from indexer.files.schema import StoredPassage
from indexer.files.stored import stored_passages
from indexer.glossary import mined as mining
from indexer.glossary.mined import Evidence, find_mentions
from indexer.glossary.pairs import Pair

ANALYZERS = {name: make_analyzer(name) for name in ("bilingual", "korean", "english")}
BILINGUAL = ANALYZERS["bilingual"]


def passage(text="", title="", doc_id="P1", **paper):
    record = json.dumps({"id": doc_id, **paper})
    title2 = paper.get("title2", "")
    return StoredPassage(doc_id, doc_id, title, text, "ko", "abstract", title2=title2, record=record)


def evidence(*passages, analyzer=BILINGUAL):
    found = Evidence()
    for each in passages:
        found.add(each, find_mentions(each, analyzer))
    return found


def pairs(*passages, analyzer=BILINGUAL):
    return evidence(*passages, analyzer=analyzer).choose_pairs(analyzer)


def mined(*passages, analyzer=BILINGUAL):
    return {(pair.korean, pair.english) for pair in pairs(*passages, analyzer=analyzer)}


@pytest.mark.parametrize(
    ("text", "korean", "english"),
    [
        ("두 단계로 연결된 초록만 정보검색(information retrieval)에", "정보검색", "information retrieval"),
        ("우리는 전이 학습(transfer learning)을 썼다.", "전이 학습", "transfer learning"),
        ("전각 전이 학습（transfer learning）을", "전이 학습", "transfer learning"),
        ("본 논문은 아이작 뉴턴(Isaac Newton)의 편지를", "아이작 뉴턴", "Isaac Newton"),
        ("영국의 물리학자 아이작 뉴턴(Isaac Newton)은", "아이작 뉴턴", "Isaac Newton"),
        ("찰스 다윈(Charles Darwin, 1809년 ~ 1882년)은", "찰스 다윈", "Charles Darwin"),
        ("그는 『국부론』(The Wealth of Nations)을 썼다.", "국부론", "Wealth of Nations"),
        ("효과는 SGLT2 억제제(SGLT2 inhibitor)에서 컸다.", "SGLT2 억제제", "SGLT2 inhibitor"),
        ("자기장(磁氣場, magnetic field)은 힘이다.", "자기장", "magnetic field"),
        ("아미노산(영어: amino acid)은 물질이다.", "아미노산", "amino acid"),
        ("우리는 '짙은 안개'(dense fog)를 보았다.", "짙은 안개", "dense fog"),
        ("결과의 보고(reporting)를 미룬다.", "보고", "reporting"),
        ("앞의 혼합층(mixed layer)은 두껍다.", "혼합층", "mixed layer"),
        ("A record of Asian dust (황사) over Seoul.", "황사", "Asian dust"),
        ("Hangul (한글) is", "한글", "Hangul"),
        ("최근 LLM(대규모 언어 모델)이 쓰인다.", "대규모 언어 모델", "LLM"),
    ],
)
def test_a_bracket_with_the_term_in_the_other_language(text, korean, english):
    assert mined(passage(text)) == {(korean, english)}


@pytest.mark.parametrize("order", ["large language model, LLM", "LLM: large language model"])
def test_an_abbreviation_and_its_full_form_are_two_pairs(order):
    assert mined(passage(f"대규모 언어 모델({order})을 쓴다.")) == {
        ("대규모 언어 모델", "large language model"),
        ("대규모 언어 모델", "LLM"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "표본(n=30)은 작았다.",
        "차이가 유의하였다(p<0.05).",
        "기술수용모형(Davis, 1989)을 따른다.",
        "선행 연구(Kim et al., 2019)를 따른다.",
        "선행 연구(Smith & Lee 2019)를 따른다.",
        "길이(mm)를 재었다.",
        "항목(A)을 보라.",
        "품목(T1)을 보라.",
        "과일(apple, banana, orange)을 샀다.",
        "시약(Sigma, St. Louis, USA)을 썼다.",
        "한니발(, )은 장군이다.",
        "연구에서는(in the study) 다음을 본다.",
        "나트륨 이온(Na+)과 염화 이온(Cl-)이 많다.",
        "이렇게 정했기 때문에(4.5 MHz) 바꾸지 않는다.",
        "누리집(www.example.or.kr)을 보라.",
        "한 갑(pack)에 스무 개비가 든다.",
        "신호의 대역(guard band)은 좁다.",
        "이는 다윈(Charles Darwin)의 책이다.",
        "고객은 Solbox (주)이다.",
        "그것은 대단한(great thing) 일이다.",
        "종이를 길게 잘라낸다(he cuts off).",
    ],
)
def test_other_brackets_are_no_translations(text):
    assert mined(passage(text)) == set()


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("통신", "vehicle to vehicle"),  # fewer parts than the English
        ("식물", "Tamarind"),  # a name that is not transcribed
        ("투자은행", "IB"),  # an abbreviation of two letters
    ],
)
def test_a_doubtful_pair_needs_three_passages(korean, english):
    texts = [f"{word} {korean}({english})에서는" for word in ("가까운", "느린", "먼")]
    papers = [passage(text, doc_id=text[0]) for text in texts]
    assert mined(*papers[:2]) == set()
    assert mined(*papers) == {(korean, english)}


@pytest.mark.parametrize("name", ["korean", "english"])
def test_the_other_analyzers_find_the_term_too(name):
    text = "우리는 문서를 전이 학습(transfer learning)으로 나눈다."
    assert mined(passage(text), analyzer=ANALYZERS[name]) == {("전이 학습", "transfer learning")}


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        (["말뭉치", "corpus", "형태소", "morpheme"], True),
        (["corpus", "말뭉치", "morpheme", "형태소"], True),
        (["말뭉치", "형태소", "corpus", "morpheme"], True),
        (["corpus", "morpheme", "말뭉치", "형태소"], True),
        (["말뭉치", "형태소", "corpus"], False),
        (["말뭉치", "corpus", "morpheme", "형태소", "음절", "syllable"], False),
        (["말뭉치", "2020"], False),
        (["corpus", "morpheme"], False),
        ([], False),
        ("말뭉치, corpus", False),
        (None, False),
        ([1, {"말뭉치": "corpus"}], False),
        (["거꾸로 학습", "flipped learning"], False),  # the analysis drops 거꾸로
    ],
)
def test_keyword_lists_in_both_languages_are_paired_in_order(keywords, found):
    expected = {("말뭉치", "corpus"), ("형태소", "morpheme")} if found else set()
    assert mined(passage(keywords=keywords)) == expected


def test_phrases_that_go_together_in_five_titles_are_a_pair():
    others = [("쌀", "rice"), ("밀", "wheat"), ("콩", "bean"), ("보리", "barley"), ("옥수수", "maize")]
    titles = [(f"{korean}의 광합성", f"Photosynthesis of {english}") for korean, english in others]
    papers = [passage("", title, doc_id=title2, title2=title2) for title, title2 in titles]
    reverse = [passage("", title2, doc_id=title2, title2=title) for title, title2 in titles]
    assert pairs(*papers) == [
        Pair("광합성", "Photosynthesis", ("광", "합성"), ("photosynthesi",), 5, ("title",)),
    ]
    assert mined(*reverse) == {("광합성", "Photosynthesis")}
    assert mined(*papers[:4]) == set()
    other = [
        passage("", f"{korean}의 성장", doc_id=title2, title2=title2)
        for (korean, _), (_, title2) in zip(others, titles, strict=True)
    ]
    assert mined(*papers, *other) == set()  # in half of the titles with the English word


def test_a_pair_has_its_tokens_sources_and_number_of_passages():
    first = passage("이 흑연(graphite)과 흑연(graphite)은", keywords=["흑연", "graphite"])
    second = StoredPassage("P1@en", "P1", "흑연(graphite)", "graphite (흑연)", "en", "abstract2")
    assert pairs(first) == [Pair("흑연", "graphite", ("흑연",), ("graphit",), 1, ("bracket", "keywords"))]
    assert [pair.count for pair in pairs(first, second)] == [2]


def test_variants_merge_by_tokens_and_show_the_most_frequent_form():
    written = ["지식 그래프(Knowledge Graph)", "지식그래프(knowledge graph)", "지식그래프(knowledge graph)"]
    papers = [passage(f"이 {text}를", doc_id=f"P{number}") for number, text in enumerate(written)]
    assert pairs(*papers) == [
        Pair("지식그래프", "knowledge graph", ("지식", "그래프"), ("knowledg", "graph"), 3, ("bracket",))
    ]


def test_pairs_come_by_passages_then_korean_then_english():
    lists = [["구리", "copper", "황금", "gold"], ["은행", "bank", "구리", "copper"]]
    papers = [passage(keywords=listed, doc_id=listed[0]) for listed in lists]
    assert [pair.korean for pair in pairs(*papers)] == ["구리", "은행", "황금"]


def test_a_term_of_which_one_token_is_left_is_looked_up_from_the_other_side():
    found = pairs(passage(keywords=["잠금 효과", "lock-in", "고혈압", "high blood pressure"]))
    assert {(pair.korean_tokens, pair.english_tokens, pair.target) for pair in found} == {
        (("혈압",), ("high", "blood", "pressur"), "ko"),
        (("고혈압",), ("high", "blood", "pressur"), "en"),
        (("잠그", "효과"), ("lock",), "en"),
    }


def test_counts_of_parts_add_up_to_those_of_the_whole():
    papers = [passage("이 흑연(graphite)은", doc_id=f"P{number}") for number in range(3)]
    whole, parts = evidence(*papers), [evidence(paper) for paper in papers]
    assert whole.pairs == sum((part.pairs for part in parts), parts[0].pairs - parts[0].pairs)


def test_beyond_the_bound_the_rarer_half_is_dropped(monkeypatch):
    monkeypatch.setattr(mining, "MOST_COUNTED", 4)
    terms = [
        ["구리", "copper"],
        ["구리", "copper"],
        ["금", "gold"],
        ["은", "silver"],
        ["납", "lead"],
        ["철", "iron"],
    ]
    found = evidence(
        *(passage(keywords=list(term), doc_id=f"P{number}") for number, term in enumerate(terms))
    )
    assert [seen.korean for seen in found.pairs] == ["구리", "금"]


def test_english_words_are_counted_once_a_passage_and_without_abbreviations():
    found = evidence(passage("Lithium and lithium DNA mRNA"), passage("LITHIUM, the lithium. Schrödinger"))
    assert found.words == {"lithium": 2, "and": 1, "the": 1, "schrödinger": 1}


PIECES = st.sampled_from(
    [
        *"( ) （ 『 』 \" ' , : - + LLM graph the of A. 1990 지식 그래프를 의 한 漢字 é \u0301 😀".split(),
        *(" ", "  ", "\n", "\x00", "\x1f", "\ud7ff"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)),
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=6),
    st.sampled_from(["bilingual", "korean", "english"]),
)
def test_any_text_can_be_mined(text, title, keywords, name):
    papers = [
        passage(text, title=title, title2=text, keywords=keywords, doc_id="P1"),
        passage(title, title=text, title2=title, keywords=keywords, doc_id="P2"),
    ]
    for pair in pairs(*papers, analyzer=ANALYZERS[name]):
        assert pair.has_tokens
        assert 1 <= pair.count <= 2


def test_the_sample_corpus_gives_its_terms():
    lines = (Path(__file__).parents[3] / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines()
    papers = [Paper.model_validate_json(line) for line in lines]
    found = mined(*(passage for paper in papers for passage in stored_passages(paper, "paper")))
    assert found >= {
        ("고체 전해질", "solid electrolyte"),
        ("검색증강생성", "RAG"),
        ("파킨슨병", "Parkinson's disease"),
        ("황사", "Asian dust"),
        ("찰스 다윈", "Charles Darwin"),
    }
    assert len(found) > 300
