"""False claims with the words of their paper, and paraphrases of it that are true."""

import json

import pytest

from generator.checking.sentence_check import check_sentence
from generator.checking.text.quantities import quantities
from tests.generator.sample_index import passage
from tests.indexer.made_corpora import ROOT

pytest_plugins = ["tests.generator.sample_index"]

PAPERS = {
    paper["id"]: paper
    for paper in map(json.loads, (ROOT / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines())
}
NLP1, NLP2 = "SAMPLE-NLP-001", "SAMPLE-NLP-002"


def check(sample, sentence, name):
    paper = PAPERS[name]
    held = passage(paper["id"], paper["abstract"], lang=paper["lang"], title=paper["title"])
    return check_sentence(sentence, [held], sample)


def check_text(sample, sentence, text, lang="en"):
    return check_sentence(sentence, [passage(text, text, lang=lang)], sample)


FALSE = [
    # Numbers
    (
        NLP2,
        "number",
        "On 3400k biomedical questions the share of unsupported sentences fell.",
    ),
    (
        NLP2,
        "number",
        "On 3.4M biomedical questions the share of unsupported sentences fell.",
    ),
    (
        NLP2,
        "number",
        "On 三千五百 biomedical questions the share of unsupported sentences fell.",
    ),
    (
        NLP2,
        "number",
        "Six questions in ten were left without an answer.",
    ),
    (
        NLP2,
        "number",
        "One in six questions was left without an answer.",
    ),
    (NLP2, "number", "Three out of five questions were left without an answer."),
    (NLP2, "number", "두 경로 규칙을 만족하는 초록이 없어 질문 열 개 중 여섯 개에 답변하지 못했다."),
    (NLP2, "number", "A dozen percent of the questions were left without an answer."),
    # A change by a number and a change to it
    (NLP2, "turned", "Answer length was cut to a quarter."),
    (NLP2, "turned", "The share of unsupported sentences fell to a quarter."),
    (NLP2, "turned", "The share of unsupported sentences fell by 9.6%."),
    (NLP2, "turned", "근거 없는 문장의 비율은 9.6%만큼 낮아졌다."),
    (NLP1, "turned", "근거와 어긋나는 문장의 비율이 8.9%만큼 낮아졌다."),
    (NLP1, "turned", "근거와 어긋나는 문장의 비율이 8.9% 줄었다."),
    # A bound
    (NLP2, "other number", "We keep only abstracts reached by at least three paths."),
    (NLP2, "other number", "Only abstracts reached by three or more paths are kept."),
    # Denied twice
    (NLP2, "denied", "No question was left without an answer."),
    (NLP2, "denied", "None of the questions were left without an answer."),
    (NLP2, "denied", "답변되지 않은 질문은 없었다."),
    # Opposites
    (NLP2, "opposite", "Gains were largest for papers younger than one year."),
    (NLP2, "opposite", "Gains vanished for papers older than one year."),
    (NLP2, "opposite", "The share of unsupported sentences hardly fell."),
    (NLP2, "opposite", "On the questions the share of unsupported sentences barely fell."),
    (NLP1, "opposite", "근거와 어긋나는 문장의 비율은 거의 낮아지지 않았다."),
    (
        NLP2,
        "opposite",
        "Sentences were judged by three undergraduate annotators (alpha 0.71).",
    ),
    # Who does it
    (NLP2, "exchanged", "Unsupported sentences select evidence by walking the citation graph."),
    # Which of two is better
    (NLP1, "exchanged", "벡터 검색은 지식 그래프보다 환각을 더 줄였다."),
    (NLP1, "exchanged", "Vector retrieval alone gave fewer hallucinations than the knowledge graph."),
]

TRUE = [
    (NLP2, "On 3.4k biomedical and materials-science questions the share of unsupported sentences fell."),
    (NLP2, "On 三千四百 biomedical and materials-science questions the share of unsupported sentences fell."),
    (NLP2, "Six in a hundred questions were left without an answer."),
    (NLP2, "Three questions in fifty were left without an answer."),
    (NLP2, "질문 100개 중 6개에 답변하지 못했다."),
    (NLP2, "Answer length was cut by a quarter."),
    (NLP2, "The share of unsupported sentences was cut to 9.6%."),
    (NLP2, "The share of unsupported sentences fell to about half."),
    (NLP2, "The share of unsupported sentences fell by about half."),
    (NLP2, "The share of unsupported sentences fell by 9.1 percentage points."),
    (NLP2, "근거 없는 문장의 비율이 9.6%로 낮아졌다."),
    (NLP1, "근거와 어긋나는 문장의 비율이 8.9%까지 낮아졌다."),
    (NLP1, "근거와 어긋나는 문장의 비율이 12.5%포인트 낮아졌다."),
    (NLP2, "Only abstracts reached by at least two paths are kept."),
    (NLP2, "Only abstracts reached by two or more paths are kept."),
    (NLP2, "6% of the questions had no answer, since no abstract was reached by two paths."),
    (NLP2, "No abstract met the two-path rule for 6% of the questions, which were left without an answer."),
    (NLP2, "Gains vanished for younger papers."),
    (NLP2, "Gains disappeared for papers younger than one year."),
    (NLP2, "The share of unsupported sentences fell by almost half."),
    (NLP1, "정답 일치율은 거의 오르지 않았다."),
    (NLP2, "Three graduate annotators judged the sentences."),
    (NLP2, "The authors select evidence by walking the citation graph."),
    (NLP2, "The method selects evidence by walking the citation graph."),
    (NLP2, "Evidence is selected by walking the citation graph."),
    (NLP1, "지식 그래프는 벡터 검색보다 환각을 더 줄였다."),
    (NLP1, "The knowledge graph gave fewer hallucinations than vector retrieval alone."),
    ("SAMPLE-BAT-004", "3차원 구리 집전체는 평판 구리보다 쿨롱 효율이 높다."),
    (NLP1, "벡터 검색은 지식 그래프보다 환각이 많았다."),
]


@pytest.mark.parametrize(("paper", "sign", "sentence"), FALSE, ids=[each[2] for each in FALSE])
def test_a_false_detail_is_unsupported(sample, paper, sign, sentence):
    found = check(sample, sentence, paper)
    assert sign in {reason.sign for reason in found.reasons}, found


@pytest.mark.parametrize(("paper", "sentence"), TRUE, ids=[each[1] for each in TRUE])
def test_a_true_paraphrase_is_supported(sample, paper, sentence):
    found = check(sample, sentence, paper)
    assert found.check == "supported", found


# Sentence and passage, both invented.
FALSE_OF_TEXT = [
    ("Fifteen dozen hens were vaccinated.", "In spring 150 hens were vaccinated on two farms."),
    ("The yield of the older orchards rose.", "The yield of the younger orchards rose in dry years."),
    ("Yield was lowest in the shaded plots.", "Yield was highest in the shaded plots of the terrace."),
    (
        "Supervised training of the tagger took two days.",
        "Unsupervised training of the tagger took two days.",
    ),
    ("Ponds release methane in summer at night.", "We release methane in summer at night from open ponds."),
    ("잡초 발생이 30%로 줄었다.", "피복 재배를 하자 잡초 발생이 30% 줄었다."),
    ("수확량이 12%만큼 늘었다.", "관수한 밭에서는 수확량이 12%로 늘었다."),
    # What a direction is said of
    (
        "Watering at night increased the leaf temperature.",
        "Leaf temperature dropped under the nets when the plants were watered at night.",
    ),
    ("그늘막은 잎 온도를 높였다.", "그늘막을 치자 잎 온도는 낮아졌다."),
    (
        "그늘막을 친 뒤 잎 온도는 2.4 ℃ 높아졌다.",
        "잎 온도는 그늘막을 치기 전의 평균보다 친 뒤에 2.4 ℃ 낮았다.",
    ),
    # An effect where none was found, and none where there was one
    (
        "Wages raised the loyalty of the drivers.",
        "Rest rooms raised the loyalty of the drivers. Wages were not related to their loyalty.",
    ),
    (
        "Distance was the main reason for late arrivals.",
        "Fog was the strongest reason for late arrivals. Distance hardly mattered.",
    ),
    (
        "임금이 높을수록 운전자의 이직이 적었다.",
        "휴게실이 있으면 운전자의 이직이 적었다. 임금은 운전자의 이직과 관련이 없었다.",
    ),
    # Labels of numbers
    ("The resin held 84% of the nickel.", "The resin held 71% of the nickel and 84% of the zinc."),
    (
        "Fever occurred in 6.2% of non-vaccinated pigs.",
        "Fever occurred in 6.2% of vaccinated and 17.5% of non-vaccinated pigs.",
    ),
    (
        "시험구 40개를 더했을 때 오차가 0.15였다.",
        "시험구 20개를 더했을 때 오차는 0.15였다. 40개를 더하면 0.22로 커졌다.",
    ),
    (
        "The flood reached 2.9 m in Torvik.",
        "In Malden and Oslund the flood reached 2.6 and 2.9 m, while Torvik stayed dry.",
    ),
    (
        "Eight hundred villages were visited to interview 27 farmers.",
        "We interviewed 800 farmers in 27 villages.",
    ),
    # Orders of numbers
    (
        "Clay outperformed sand at this depth.",
        "At this depth the accuracy of the probe was 0.31 in loam, against 0.19 for clay and 0.24 for sand.",
    ),
    ("철제 관은 구리 관보다 더 긴 시간이 걸렸다.", "가열에 걸린 시간은 구리 관 180초, 철제 관 95초였다."),
    # Ranks, sides and ends of numbers
    ("Older drivers gained least from the course.", "Older drivers gained most from the course in winter."),
    (
        "The gain was largest for farms of more than three fields.",
        "The gain was largest for farms of three fields or fewer.",
    ),
    ("오류 비율은 9.8%로 낮아졌다.", "오류 비율은 4학년 9.8%에서 6학년 14.6%로 늘었다."),
    # Words that are only denied, and terms that exclude each other
    ("The robot was steered with a compass.", "The robot was steered by lamps. No compass is used."),
    (
        "Summer floods came from melting snow in the valley.",
        "Winter floods came from melting snow in the valley. Summer floods came from storms.",
    ),
    # Across languages
    (
        "임금은 운전자의 만족과 관련이 있었다.",
        "Rest rooms raised the satisfaction of drivers. Wages were not related to their satisfaction.",
    ),
    (
        "Colleagues weakened the stress of nurses.",
        "상사의 지지는 간호사의 스트레스를 줄였다. 동료는 간호사의 스트레스에 효과가 없었다.",
    ),
    ("Older nurses gained least from the training.", "훈련의 이득은 나이 든 간호사에게서 가장 컸다."),
]
TRUE_OF_TEXT = [
    ("Two dozen hens were vaccinated.", "In spring 24 hens were vaccinated on two farms."),
    ("Half a dozen hens were vaccinated.", "In spring six hens were vaccinated on two farms."),
    ("Samples were cooled to 300 K before milling.", "Samples were cooled to 300K before they were milled."),
    ("Six of the ten farms had mites.", "Mites were found on six out of ten farms."),
    ("Three of the farms had mites.", "Mites were found on 3 out of 12 farms."),
    ("Mites were found on one farm in four.", "Mites were found on 25% of the farms."),
    (
        "Mites were found on one farm in four.",
        "Of the 12 farms, 3 had mites on them.",
    ),
    ("농장 네 곳 중 한 곳에서 응애가 나왔다.", "농장의 25%에서 응애가 나왔다."),
    (
        "Yield rose in older and younger orchards.",
        "In younger and older orchards alike, yield rose.",
    ),
    ("Bees older than 20 days foraged most.", "Foraging was done mostly by bees older than 20 days."),
    (
        "The effect vanished after a year.",
        "The effect was largest at first; it vanished within a year.",
    ),
    (
        "Yield was highest in the sunny plots.",
        "Yield was highest in the sunny plots, lowest in shade.",
    ),
    ("Weed cover hardly fell.", "Weed cover fell only slightly under the mulch."),
    ("Weed cover hardly fell.", "Weed cover fell from 32.1% to 31.8% under the mulch."),
    ("Weed cover hardly changed.", "Weed cover did not change under the mulch."),
    ("The detectors select frames at night.", "We select frames at night with two detectors."),
    ("Costs were cut by half.", "Costs were cut to half of those of 2010."),
    ("잡초 발생이 30% 줄었다.", "피복 재배를 하자 잡초 발생이 30% 감소하였다."),
    (
        "Supervised training took two days.",
        "Unsupervised training took 9 days; supervised training two days.",
    ),
    ("No hen was left unvaccinated.", "No hen was left unvaccinated on the two farms."),
    ("No farm was left without vaccine.", "None of the farms was left without vaccine in spring."),
    ("At least three farms need vaccine.", "At least three farms need vaccine, and at least two need hens."),
    (
        "Watering at night lowered the leaf temperature.",
        "Leaf temperature dropped under the nets when the plants were watered at night.",
    ),
    (
        "Leaf temperature dropped while humidity rose.",
        "Under the nets humidity rose and leaf temperature dropped by 2 °C.",
    ),
    (
        "Rest rooms, unlike wages, raised the loyalty of the drivers.",
        "Rest rooms raised the loyalty of the drivers. Wages were not related to their loyalty.",
    ),
    ("The resin held 84% of the zinc.", "The resin held 71% of the nickel and 84% of the zinc."),
    (
        "Fever occurred in 6.2% of vaccinated pigs.",
        "Fever occurred in 6.2% of vaccinated and 17.5% of non-vaccinated pigs.",
    ),
    (
        "Sand outperformed clay at this depth.",
        "At this depth the accuracy of the probe was 0.31 in loam, against 0.19 for clay and 0.24 for sand.",
    ),
    ("철제 관은 구리 관보다 시간이 덜 걸렸다.", "가열에 걸린 시간은 구리 관 180초, 철제 관 95초였다."),
    ("The probe worked in 94% of the trials.", "The probe worked in 47 of 50 trials."),
    ("Floods became 30% more frequent.", "Floods became 1.3 times as frequent after the dam was built."),
    ("The herd was watched for three months.", "The herd was watched for 12 weeks."),
    (
        "About 92% and 94% of the pigs recovered.",
        "Of the pigs 92.3% recovered with capsules and 93.5% with injections.",
    ),
    ("Yield fell about a fifth.", "Yield fell by 18% in dry years."),
    ("오류 비율은 14.6%로 높아졌다.", "오류 비율은 4학년 9.8%에서 6학년 14.6%로 늘었다."),
    ("The robot was steered without a compass.", "The robot was steered by lamps. No compass is used."),
    ("Older nurses gained most from the training.", "훈련의 이득은 나이 든 간호사에게서 가장 컸다."),
]
KOREAN = "가힣"


def lang_of(text):
    return "ko" if any(KOREAN[0] <= each <= KOREAN[1] for each in text) else "en"


@pytest.mark.parametrize(("sentence", "text"), FALSE_OF_TEXT)
def test_a_detail_that_a_passage_has_otherwise_is_unsupported(sample, sentence, text):
    found = check_text(sample, sentence, text, lang_of(text))
    assert found.check == "unsupported", found


@pytest.mark.parametrize(("sentence", "text"), TRUE_OF_TEXT)
def test_a_detail_in_other_words_is_supported(sample, sentence, text):
    found = check_text(sample, sentence, text, lang_of(text))
    assert found.check == "supported", found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3400k", 3_400_000),
        ("3.4k", 3_400),
        ("2.5bn", 2_500_000_000),
        ("5M rows", 5_000_000),
        ("5M NaCl", 5),
        ("4K", 4),
        ("二十六%", 26),
        ("二〇二三年", 2023),
        ("two dozen", 24),
        ("half a dozen", 6),
    ],
)
def test_a_number_with_a_suffix_a_dozen_or_in_chinese_has_its_value(written, value):
    (quantity,) = quantities(written)
    assert quantity.value == value


@pytest.mark.parametrize("written", ["一般", "三國", "dozens of hens", "十字架", "百濟"])
def test_a_word_that_holds_a_chinese_numeral_or_dozen_is_no_number(written):
    assert quantities(written) == []


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("six in ten", 60),
        ("one out of every four hens", 25),
        ("3 out of 5", 60),
        ("six hens in ten were", 60),
        ("열 마리 중 여섯 마리", 60),
        ("10명 중 6명", 60),
        ("넷 중 하나", 25),
    ],
)
def test_a_number_of_so_many_is_a_share(written, share):
    assert [each.value for each in quantities(written) if each.multiple] == [share]


@pytest.mark.parametrize(
    "written", ["two trials in ten villages", "4 in 5 days", "3 in 10% of", "5 in 2 plots", "2 in 2020"]
)
def test_two_numbers_that_are_no_share(written):
    assert not any(each.multiple for each in quantities(written))
