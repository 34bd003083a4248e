"""What is mined from brackets, keyword lists and titles."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.corpora.papers import Paper
from indexer.files.schema import StoredPassage
from indexer.files.stored import stored_passages
from indexer.glossary import mining
from indexer.glossary.mining import mine_glossary
from indexer.glossary.pairs import Pair

ANALYZERS = {name: make_analyzer(name) for name in ("bilingual", "korean", "english")}
BILINGUAL = ANALYZERS["bilingual"]


def passage(text="", title="", doc_id="P1", part="abstract", **paper):
    record = json.dumps({"id": doc_id, **paper})
    return StoredPassage(
        doc_id, doc_id, title, text, "ko", part, title2=paper.get("title2", ""), record=record
    )


def mined(*passages, analyzer=BILINGUAL):
    return {(pair.korean, pair.english) for pair in mine_glossary(passages, analyzer)}


def in_text(text, **paper):
    return mined(passage(text, **paper))


def test_a_pair_comes_with_its_tokens_its_count_and_its_sources():
    assert mine_glossary([passage("본 연구는 지식 그래프(knowledge graphs)를 만든다.")], BILINGUAL) == [
        Pair("지식 그래프", "knowledge graphs", ("지식", "그래프"), ("knowledg", "graph"), 1, ("bracket",))
    ]


@pytest.mark.parametrize(
    ("text", "korean", "english"),
    [
        (
            "두 단계로 연결된 초록만 정보검색(information retrieval)에 쓴다.",
            "정보검색",
            "information retrieval",
        ),
        ("우리는 전이 학습(transfer learning)을 썼다.", "전이 학습", "transfer learning"),
        ("환자의 삶의 질(quality of life)이 높았다.", "삶의 질", "quality of life"),
        ("본 논문은 아이작 뉴턴(Isaac Newton)의 편지를 다룬다.", "아이작 뉴턴", "Isaac Newton"),
        ("영국의 물리학자 아이작 뉴턴(Isaac Newton)은", "아이작 뉴턴", "Isaac Newton"),
        ("그는 『국부론』(The Wealth of Nations)을 썼다.", "국부론", "Wealth of Nations"),
        ("그는 『자유의 역사(A History of Liberty)』를 썼다.", "자유의 역사", "History of Liberty"),
        ("효과는 SGLT2 억제제(SGLT2 inhibitor)에서 컸다.", "SGLT2 억제제", "SGLT2 inhibitor"),
        ("자기장(磁氣場, magnetic field)은 힘이다.", "자기장", "magnetic field"),
        ("아미노산(영어: amino acid)은 물질이다.", "아미노산", "amino acid"),
        ("우리는 '짙은 안개(dense fog)'를 보았다.", "짙은 안개", "dense fog"),
        ("이를 '전이 학습'(transfer learning)이라 한다.", "전이 학습", "transfer learning"),
        ("도심에서 무대 페스티벌(Stage Festival)이 열렸다.", "무대 페스티벌", "Stage Festival"),
        ("엘리자베스 2세(Elizabeth II)의 편지이다.", "엘리자베스 2세", "Elizabeth II"),
        ("결과의 보고(reporting)를 미룬다.", "보고", "reporting"),
        ("초미세먼지(PM2.5)를 재었다.", "초미세먼지", "PM2.5"),
        ("이산화탄소(CO₂)가 늘었다.", "이산화탄소", "CO₂"),
        ("황화수소(H2S)를 없앤다.", "황화수소", "H2S"),
    ],
)
def test_the_korean_term_in_front_of_a_bracket(text, korean, english):
    assert in_text(text) == {(korean, english)}


@pytest.mark.parametrize(
    "text",
    [
        "대규모 언어 모델(large language model, LLM)을 쓴다.",
        "대규모 언어 모델(LLM, large language model)을 쓴다.",
        "대규모 언어 모델(LLM: large language model)을 쓴다.",
    ],
)
def test_an_abbreviation_and_its_full_form_are_two_pairs(text):
    assert in_text(text) == {("대규모 언어 모델", "large language model"), ("대규모 언어 모델", "LLM")}


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
        "바바르 칼사(fr)는 단체이다.",
        "표준시(UTC)로 적는다.",
        "과일(apple, banana, orange)을 샀다.",
        "시약(Sigma, St. Louis, USA)을 썼다.",
        "한니발(, )은 장군이다.",
        "중국의 수도(pinyin: Beijing)이다.",
        "연구에서는(in the study) 다음을 본다.",
        "소프트웨어(SPSS)로 분석하였다.",
        "나트륨 이온(Na+)과 염화 이온(Cl-)이 많다.",
        "의존도가 낮아지고 있고(D2C, Direct to Customer), 값이 오른다.",
        "그는 종이를 '찢다'(to split)라고 쓴다.",
        "이렇게 정했기 때문에(4.5 MHz) 바꾸지 않는다.",
        "가게에서 20 마일(32 km) 떨어져 있다.",
        "고객은 Solbox (주)이다.",
        "한 갑(pack)에 스무 개비가 든다.",
        "사업주체(LH, SH 등)에 신청한다.",
        "말린 잎(녹차, roasted leaf)을 산다.",
        "품목(T1)을 보라.",
        "신호의 대역(guard band)은 좁다.",
        "교통의 흐름(traffic flow)은 느리다.",
        "제도의 유형(DB)이 다르다.",
        "이는 다윈(Charles Darwin)의 책이다.",
        "이를 부담(book off)한다.",
        "시장의 가격(1umber price)이 오른다.",
    ],
)
def test_what_is_no_translation_is_left_out(text):
    assert in_text(text) == set()


def test_an_abbreviation_that_is_a_unit_elsewhere_needs_the_full_form():
    assert in_text("결핵(tuberculosis, TB)은") == {("결핵", "tuberculosis"), ("결핵", "TB")}
    assert in_text("저장 용량(TB)은") == set()


def test_life_dates_are_dropped_from_a_name():
    assert in_text("찰스 다윈(Charles Darwin, 1809년 ~ 1882년)은 학자이다.") == {
        ("찰스 다윈", "Charles Darwin")
    }
    assert in_text("찰스 다윈(Charles Darwin 1809-1882)은 학자이다.") == {("찰스 다윈", "Charles Darwin")}


@pytest.mark.parametrize(
    ("text", "korean", "english"),
    [
        ("A record of Asian dust (황사) over Seoul.", "황사", "Asian dust"),
        (
            "He read the Veritable Records of the Dynasty (왕조실록, sillok).",
            "왕조실록",
            "Veritable Records of the Dynasty",
        ),
        ("particles (조사) are split off", "조사", "particles"),
        ("Hangul (한글)", "한글", "Hangul"),
        ("최근 LLM(대규모 언어 모델)이 쓰인다.", "대규모 언어 모델", "LLM"),
    ],
)
def test_the_english_term_in_front_of_a_bracket(text, korean, english):
    assert in_text(text) == {(korean, english)}


def test_a_keyword_of_the_paper_tells_where_the_term_begins():
    text = "설문으로 지각된 안전(perceived safety)을 재었다."
    assert in_text(text) == set()
    assert in_text(text, keywords=["지각된 안전", "설문"]) == {("지각된 안전", "perceived safety")}


def test_a_word_that_goes_on_from_the_line_before_needs_a_second_paper():
    broken = "새로운 연\n구단체(research group)가 있다."
    assert in_text(broken) == set()
    assert in_text("이는 연구단체(research group)이다.") == {("연구단체", "research group")}


def test_a_word_that_may_be_misread_needs_a_second_passage():
    broken = "원두를 물에 씻\n는다. 이는 건조(drylng)이다."
    assert in_text(broken) == set()
    assert mined(passage(broken, doc_id="P1"), passage("drylng", doc_id="P2")) == {("건조", "drylng")}
    assert in_text("원두를 물에 씻는다. 이는 건조(drylng)이다.") == {("건조", "drylng")}


def test_a_caption_in_capitals_below_a_word_is_no_translation():
    assert in_text("작년 거래액\n(Live Streaming) 단위") == set()


def test_a_common_word_does_not_mean_a_rare_one():
    first = passage("이는 원고(licensee)이다.", doc_id="P0")
    others = [passage("원고의 말이다.", doc_id=f"P{number}") for number in range(1, 30)]
    assert mined(first, *others[:5]) == {("원고", "licensee")}
    assert mined(first, *others) == set()


def test_of_two_spellings_the_commoner_is_right():
    papers = [
        passage("이는 설명서(instruction)이다.", doc_id="P1"),
        passage("그 설명서(instruction)이다.", doc_id="P2"),
        passage("저 설명서(instructicn)이다.", doc_id="P3"),
    ]
    assert mined(*papers) == {("설명서", "instruction")}


def test_a_keyword_list_tells_that_a_bracket_says_more():
    text = "해마다 줄어든 여과율(estimated filtration rate)을 재었다."
    assert in_text(text, keywords=["여과율", "filtration rate"]) == {("여과율", "filtration rate")}


def test_an_abbreviation_of_two_letters_needs_its_full_form_or_a_second_paper():
    alone = "큰 투자은행(IB)이 있다."
    assert in_text(alone) == set()
    assert mined(passage(alone, doc_id="P1"), passage(alone, doc_id="P2")) == {("투자은행", "IB")}
    assert in_text("큰 투자은행(investment bank, IB)이 있다.") == {
        ("투자은행", "investment bank"),
        ("투자은행", "IB"),
    }


def test_a_term_of_which_one_token_is_left_is_looked_up_from_the_other_side():
    pairs = mine_glossary(
        [passage("", keywords=["잠금 효과", "lock-in", "고혈압", "high blood pressure"])], BILINGUAL
    )
    assert {(pair.korean_tokens, pair.english_tokens, pair.target) for pair in pairs} == {
        (("혈압",), ("high", "blood", "pressur"), "ko"),
        (("고혈압",), ("high", "blood", "pressur"), "en"),
        (("잠그", "효과"), ("lock",), "en"),
    }


def test_more_papers_tell_that_a_word_does_not_belong():
    with_modifier = passage("이는 심층 강화학습(reinforcement learning)을", doc_id="P1")
    without = [passage("이는 강화학습(reinforcement learning)을", doc_id=f"P{i}") for i in (2, 3, 4)]
    assert mined(with_modifier) == {("심층 강화학습", "reinforcement learning")}
    assert mined(with_modifier, *without) == {("강화학습", "reinforcement learning")}


def test_more_papers_tell_that_a_word_belongs():
    first = passage("이는 화물차 군집 주행(platooning)을", doc_id="P1")
    second = passage("이는 차량 군집 주행(platooning)을", doc_id="P2")
    assert mined(first) == {("주행", "platooning")}
    assert mined(first, second) == {("군집 주행", "platooning")}


def test_a_word_that_may_have_lost_its_modifier_needs_a_second_paper():
    first = passage("가까운 통신(vehicle to vehicle communication)에서는", doc_id="P1")
    second = passage("느린 통신(vehicle to vehicle communication)에서는", doc_id="P2")
    assert mined(first) == set()
    assert mined(first, second) == {("통신", "vehicle to vehicle communication")}


@pytest.mark.parametrize(
    "keywords",
    [
        ["말뭉치", "corpus", "형태소", "morpheme"],
        ["corpus", "말뭉치", "morpheme", "형태소"],
        ["말뭉치", "형태소", "corpus", "morpheme"],
        ["corpus", "morpheme", "말뭉치", "형태소"],
    ],
)
def test_keyword_lists_in_both_languages_are_paired_in_order(keywords):
    assert in_text("", keywords=keywords) == {("말뭉치", "corpus"), ("형태소", "morpheme")}


@pytest.mark.parametrize(
    "keywords",
    [
        ["말뭉치", "형태소", "corpus"],
        ["말뭉치", "corpus", "morpheme", "형태소", "음절", "syllable"],
        ["말뭉치", "2020"],
        ["corpus", "morpheme"],
        [],
        "말뭉치, corpus",
        None,
        [1, {"말뭉치": "corpus"}],
    ],
)
def test_other_keyword_lists_are_not_paired(keywords):
    assert in_text("", keywords=keywords) == set()


def test_titles_confirm_a_pair_and_count_as_a_paper():
    papers = [
        passage("음극재는 흑연(graphite)이다.", doc_id="P1"),
        passage("", title="흑연의 팽창", title2="Swelling of graphite", doc_id="P2"),
        passage("", title="Dust on graphite", title2="흑연에 앉은 먼지", doc_id="P3"),
    ]
    (pair,) = mine_glossary(papers, BILINGUAL)
    assert (pair.korean, pair.english, pair.count, pair.sources) == (
        "흑연",
        "graphite",
        3,
        ("bracket", "title"),
    )


def test_phrases_that_go_together_in_five_titles_are_a_pair():
    others = [("쌀", "rice"), ("밀", "wheat"), ("콩", "bean"), ("보리", "barley"), ("옥수수", "maize")]
    papers = [
        passage("", title=f"{korean}의 광합성", title2=f"Photosynthesis of {english}", doc_id=f"P{english}")
        for korean, english in others
    ]
    assert mined(*papers) == {("광합성", "Photosynthesis")}
    assert mined(*papers[:4]) == set()


def test_variants_merge_by_tokens_and_show_the_most_frequent_form():
    papers = [
        passage("이 지식 그래프(Knowledge Graph)를", doc_id="P1"),
        passage("이 지식그래프(knowledge graph)를", doc_id="P2"),
        passage("이 지식그래프(knowledge graph)를", doc_id="P3"),
    ]
    assert mine_glossary(papers, BILINGUAL) == [
        Pair("지식그래프", "knowledge graph", ("지식", "그래프"), ("knowledg", "graph"), 3, ("bracket",))
    ]


def test_a_paper_counts_once_whatever_its_passages_and_sources():
    first = passage("이 흑연(graphite)과 흑연(graphite)은", keywords=["흑연", "graphite"])
    second = StoredPassage("P1@en", "P1", "", "graphite (흑연)", "en", "abstract2")
    (pair,) = mine_glossary([first, second], BILINGUAL)
    assert (pair.count, pair.sources) == (1, ("bracket", "keywords"))


def test_pairs_come_by_papers_then_korean_then_english():
    papers = [
        passage("", keywords=["구리", "copper", "황금", "gold"], doc_id="P1"),
        passage("", keywords=["은행", "bank", "구리", "copper"], doc_id="P2"),
    ]
    pairs = [(pair.korean, pair.english) for pair in mine_glossary(papers, BILINGUAL)]
    assert pairs == [("구리", "copper"), ("은행", "bank"), ("황금", "gold")]


def test_a_term_whose_analysis_drops_a_word_is_left_out():
    # 거꾸로 is an adverb and leaves no token: the pair would say that 학습 is flipped learning.
    assert in_text("", keywords=["거꾸로 학습", "flipped learning"]) == set()


def test_the_rare_and_early_are_dropped_beyond_the_bound(monkeypatch):
    monkeypatch.setattr(mining, "MOST_MENTIONS", 4)
    terms = [("구리", "copper"), ("황금", "gold"), ("은행", "bank"), ("흑연", "graphite"), ("주석", "tin")]
    papers = [passage("", keywords=list(term), doc_id=f"P{i}") for i, term in enumerate([terms[0], *terms])]
    assert mined(*papers) == {("구리", "copper"), ("흑연", "graphite"), ("주석", "tin")}


@pytest.mark.parametrize("name", ["korean", "english"])
def test_the_other_analyzers_find_the_term_too(name):
    text = "우리는 문서를 전이 학습(transfer learning)으로 나눈다."
    assert mined(passage(text), analyzer=ANALYZERS[name]) == {("전이 학습", "transfer learning")}


PIECES = st.sampled_from(
    [
        *"( ) （ 『 』 \" ' , : - + LLM graph the of A. 1990 지식 그래프를 의 한 漢字 é \u0301 😀".split(),
        *(" ", "  ", "\n", "\x00", "\x1f", "\ud7ff"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)),
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=6),
    st.sampled_from(["bilingual", "korean", "english"]),
)
def test_no_text_makes_it_fail(text, title, keywords, name):
    papers = [
        passage(text, title=title, title2=text, keywords=keywords, doc_id="P1"),
        passage(title, title=text, title2=title, keywords=keywords, doc_id="P2"),
    ]
    for pair in mine_glossary(papers, ANALYZERS[name]):
        assert pair.korean_tokens
        assert pair.english_tokens
        assert 1 <= pair.count <= 2


def test_the_sample_corpus_gives_its_terms():
    lines = (Path(__file__).parents[3] / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines()
    papers = [Paper.model_validate_json(line) for line in lines]
    pairs = mined(*(passage for paper in papers for passage in stored_passages(paper, "paper")))
    assert pairs >= {
        ("고체 전해질", "solid electrolyte"),
        ("검색증강생성", "RAG"),
        ("파킨슨병", "Parkinson's disease"),
        ("승정원일기", "Diaries of the Royal Secretariat"),
        ("황사", "Asian dust"),
        ("찰스 다윈", "Charles Darwin"),
        ("시각-관성 주행거리계", "visual-inertial odometry"),
    }
    assert len(pairs) > 300
