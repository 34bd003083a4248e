"""Texts that state something, and texts that only ask or list words."""

import json

import pytest

from retriever.duplicates.statements import asks, states_something
from tests.indexer.made_corpora import ROOT

QUESTIONS = [
    "Does midseason drainage reduce methane from rice paddies?",
    "How much does yield fall when the water is drained?",
    "Which plots emit least?",
    "논에서 물을 떼면 메탄이 얼마나 줄어드는가?",
    "물을 언제 떼는 것이 가장 좋을까?",
]

ENGLISH_QUESTIONS = [
    "What is the effect of drainage on the yield of rice",
    "How does drainage change the yield of rice.",
    "Does drainage reduce methane emission",
    "Is the yield lower in drained plots.",
    "Which plots emit least.",
    "Why do lithium cells fail in the cold",
    "When were the first dams built on the river.",
    "Where are the cells grown.",
    "How much does the yield fall when the water is drained.",
    "How many farmers drained their plots.",
    "How effective is the coating against acid",
    "How closely related are the two species.",
    "What limits the growth of dendrites",
    "What causes the loss of mass in coated pipes.",
    "Who invented the closed chamber",
    "Who is the author of the survey.",
    "Whose measurements were repeated in the second year.",
    "What dose of the drug relieves pain, and for how long",
    "Which farmers were asked in the survey.",
    "Can the loss of soil be measured from space",
    "Could drained plots recover within a year.",
    "Should children sleep longer.",
    "Do people who smoke recover more slowly.",
    "Are coated pipes safe for drinking water",
    "Has the number of bees declined.",
    "Have women gained from the reform",
    "Was the lake deeper in summer.",
    "To what extent does salt limit growth.",
    "From where was the strain isolated",
    "Why not drain the plots twice.",
    "What happens when ice is heated under pressure.",
    "Who discovered that the valve was open.",
    "What are common causes of rust.",
    "What can be done about the loss of soil.",
    "How long do cells survive without oxygen",
    "How often should the pump be tested.",
    "What percentage of farmers use a closed chamber.",
    "Which drugs do patients with asthma take.",
    "1. What do we mean by resilience",
    "(2) Does the fuel ignite",
    "“Is the water safe to drink.”",
    "What's the best time to drain the plots.",
    "Did the reform raise the income of small farms",
    "Does the yield depend on whether the water is drained",
    "what is the effect of salt on rice",
    "does drainage reduce methane",
    "is green tea good for the heart",
    "When did Sicily join Italy.",
    "How many terms can a president have.",
    "Which of the two pumps lost the most water.",
    "Can greed be good for a market.",
]
ENGLISH_STATEMENTS = [
    "What we found is that drainage halves the emission.",
    "What is new is the coating of the pipes.",
    "Why batteries fail is explained by the growth of dendrites.",
    "Which explains the low yield of drained plots.",
    "How drainage affects the yield was studied in 24 plots.",
    "Can be used for the detection of leaks.",
    "When rats were fed fish oil, they gained less weight.",
    "Where data were missing, the mean of the group was taken.",
    "What is more, the coated pipes lost no mass.",
    "What's more, the coated pipes lost no mass.",
    "What they measured was the flow of heat.",
    "What remains to be tested is the effect of salt.",
    "What is lacking is a survey of small farms.",
    "Which of the two coatings lasts longer is unknown.",
    "Which bacteria protect the gut of mice remains unclear.",
    "How much methane escapes from lakes depends on the depth of water.",
    "How fast the cells divide is not known.",
    "How important these losses are remains uncertain.",
    "When possible, samples were taken twice.",
    "Where the soil was dry, roots grew deeper.",
    "Has been shown to lower blood pressure in two trials.",
    "Were described in an earlier report.",
    "Were the plots drained twice, emission would fall further.",
    "Should the pump fail, a valve will close.",
    "Who pays for the repair is decided by the council.",
    "Does not depend on the temperature of the water.",
    "Do not store the samples above 4 °C.",
    "What separates the two species is the shape of the leaf.",
    "To what extent salt limits growth is unknown.",
    "In which rice was grown for ten years.",
    "Which was published in 1930 and translated twice.",
    '"Does It Rain" is a song by a Scottish band.',
    "Had the samples been frozen, fewer cells would have died.",
    "Which they did in the second year.",
    "How climate is changing in the north was modelled.",
    "What Kim failed to notice is that the pump leaked.",
    "What follows describes the method.",
    "Why the lake froze so late is still debated.",
    "What farmers do in winter is mend their tools.",
    "What happened next was a surprise.",
    "Did not differ between the groups.",
    "Is shown in the second figure.",
    "What is known about the decline is summarised here.",
    "How many fish return each year was counted at the dam.",
    "When doing so, the pressure was kept constant.",
]
KOREAN_QUESTIONS = [
    "배수가 논의 메탄 배출량을 줄이는가",
    "배수를 하면 수확량이 얼마나 떨어지는가.",
    "두 방법 가운데 어느 쪽이 더 나은가.",
    "관의 부식은 왜 빨라지는가",
    "이 문제의 원인은 무엇인가.",
    "전지는 추운 곳에서 얼마나 오래 가는가",
    "수리 비용은 누가 부담하는가.",
    "이 약은 노인에게도 안전한가",
    "어느 지역의 물이 가장 깨끗한가.",
    "학생의 성적은 언제 가장 높은가",
    "이 소재는 저 소재보다 강한가.",
    "두 집단의 차이는 어떠한가",
    "손실을 더 줄일 수 있을까",
    "물을 언제 떼면 가장 좋을까요.",
    "새 규칙은 사고를 줄였나요",
    "이 방법은 다른 작물에도 쓸 수 있나요.",
    "도서관은 몇 시에 문을 엽니까",
    "이 자료는 어디에서 구할 수 있습니까.",
    "가장 적당한 온도는 몇 도인가요",
    "이 강의 수위는 왜 이렇게 낮은가요.",
    "농민은 무엇을 가장 걱정하느냐",
    "금리가 오르면 소비가 줄어드나요",
    "전지의 수명은 얼마나 긴 것인가",
    "비가 오면 미세먼지가 줄어들까",
    "이 강의 길이는 몇 km인가",
    "이 절차에 본인가가 꼭 필요한가",
]
KOREAN_STATEMENTS = [
    "배수가 메탄 배출량을 줄이는가에 대하여 연구하였다.",
    "배출량이 얼마나 줄어드는지 살펴보았다.",
    "어떤 요인이 수확량을 결정하는가를 분석하였다.",
    "관의 부식이 왜 빨라지는가 하는 문제를 다루었다.",
    "두 방법 가운데 어느 쪽이 나은가는 아직 알려지지 않았다.",
    "누가 비용을 부담할 것인가라는 질문은 남아 있다.",
    "어떻게 하면 손실을 줄일 수 있을까에 관한 논의를 정리하였다.",
    "무엇인가가 물의 흐름을 막고 있었다.",
    "언제부터인가 강의 수위가 낮아졌다.",
    "학생이 얼마나 오래 자는가에 따라 성적이 달랐다.",
    "이 연구는 무엇이 문제인지를 밝히고자 한다.",
    "조사에 참여한 사람은 모두 건축가와 전문가.",
    "표에 나타낸 것은 재료별 단가.",
    "생산량에 따라 달라지는 제조원가.",
    "은행업의 인가에 앞서 받는 예비인가.",
    "심사를 거쳐 이루어지는 본인가.",
    "수위가 낮아지면 녹조가 자주 일어나요.",
    "비용이 적게 드니까.",
    "응답자가 가장 자주 듣는 음악은 대중가요.",
    "배수를 두 번 하면 되니까요.",
    "얼마나 자주 물을 떼는가가 배출량을 좌우한다.",
    "이 강에 물고기가 몇 마리나 사는가를 세어 보았다.",
    "왜 전지가 추위에 약한가에 대한 설명은 엇갈린다.",
    "수확량이 늘었는가의 여부는 해마다 달랐다.",
]


@pytest.mark.parametrize("sentence", [*ENGLISH_QUESTIONS, *KOREAN_QUESTIONS])
def test_questions_without_a_mark_ask_by_their_order_of_words_or_their_ending(sentence):
    assert asks(sentence)
    assert not states_something(f"{sentence[0].upper()}{sentence[1:]}")


@pytest.mark.parametrize("sentence", [*ENGLISH_STATEMENTS, *KOREAN_STATEMENTS])
def test_statements_with_a_word_that_asks_state_something(sentence):
    assert not asks(sentence)
    assert states_something(sentence)


@pytest.mark.parametrize(
    "cut",
    [
        "is the effect of drainage on the methane emission of rice.",
        "which are the largest producers of rice.",
        "does the yield of the second year.",
        "does not follow the plan of the first trial.",
        "(1962) is an engineer who designs pumps.",
        "35, is a suite in four parts for strings.",
    ],
)
def test_the_end_of_a_sentence_that_a_chunk_cut_off_states_something(cut):
    assert states_something(cut)
    assert states_something(f"{cut} It was measured with closed chambers.")


def test_a_mark_asks_in_a_sentence_that_a_chunk_cut_off():
    assert not states_something("is the effect of drainage on the methane emission of rice?")


@pytest.mark.parametrize("stop", [". ", "; "])
def test_a_text_of_questions_without_capitals_states_nothing(stop):
    asked = [
        "does drainage reduce methane",
        "is the yield lower",
        "can farmers save water",
        "which plots emit least",
    ]

    assert not states_something(stop.join(asked))
    assert states_something(stop.join(["drainage reduces methane", "the yield is lower", *asked[:1]]))


@pytest.mark.parametrize(
    "sentence",
    [
        *QUESTIONS,
        *(question.replace("?", ".") for question in QUESTIONS),
        *(question.rstrip("?") for question in QUESTIONS),
        "수확량도 줄었나요?",
        "Can drained plots recover？",
        "“Why does it rain?”",
    ],
)
def test_questions_ask_with_their_mark_and_without(sentence):
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "When plots were drained, emission fell by 37%.",
        "How plots differ in their emission remains unknown.",
        "The plots, which were drained twice, emit less than those that were not.",
        "메탄 배출량이 얼마나 줄어드는가를 세 해 동안 측정하였다.",
        "연구에 참여한 사람은 모두 전문가.",
        "국가 수준의 평가.",
    ],
)
def test_statements_do_not_ask(sentence):
    assert not asks(sentence)


@pytest.mark.parametrize("separator", [" ", ", ", " / "])
@pytest.mark.parametrize("stop", ["?", ".", ""])
def test_a_series_of_questions_states_nothing(separator, stop):
    assert not states_something(separator.join(question.rstrip("?") + stop for question in QUESTIONS * 3))


@pytest.mark.parametrize(
    "text",
    [
        " ".join(["methane rice paddy drainage water yield emission soil flood plots"] * 3),
        "rice, methane, drainage, yield, soil, paddy, water.",
        " ".join(["논 메탄 물떼기 배출 수량 토양 벼 재배 온실가스 감축"] * 3),
        "논, 메탄, 물떼기, 수량, 토양, 벼.",
    ],
)
def test_a_list_of_words_states_nothing(text):
    assert not states_something(text)


def test_a_text_that_asks_once_and_answers_states_something():
    assert states_something("Does drainage reduce methane? We drained 24 plots, and emission fell by 37%.")
    assert states_something("물을 떼면 메탄이 줄어드는가? 24개 논에서 물을 떼었더니 배출량이 37% 줄었다.")


def test_a_table_states_something():
    assert states_something(
        "1. Berlin 3,645,000 2. Hamburg 1,841,000 3. Munich 1,472,000 4. Cologne 1,086,000"
    )


def test_a_text_without_words_is_no_list():
    assert states_something("")
    assert states_something("…")


def test_every_abstract_of_the_sample_states_something():
    papers = map(json.loads, (ROOT / "sample/papers.jsonl").read_text(encoding="utf-8").splitlines())

    assert [paper["id"] for paper in papers if not states_something(paper.get("abstract", ""))] == []


@pytest.mark.parametrize(
    "piece", ["?", "a ", "왜 ", "How ", "왜? ", ", ", "(\"'“", "Is is ", "가가가", '"', "1. ", "Which "]
)
def test_long_hostile_texts_are_read_in_time(piece):
    states_something(piece * 200_000)
