"""What a question asks to leave out, and what only reads like it."""

import unicodedata
from pathlib import Path

import pytest

from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints, find_constraints
from retriever.constraints.years import YearRange

QUESTIONS = Path(__file__).parent / "constraint_questions"
ENGLISH = {
    "Summarise battery recycling, excluding lead-acid and nickel batteries.": [
        "lead-acid and nickel batteries"
    ],
    "Which cathode materials (excluding cobalt) are cheap?": ["cobalt"],
    "Excluding lithium, which anodes last longest?": ["lithium"],
    "batteries excluding lead-acid": ["lead-acid"],
    "Which drugs lower blood pressure except beta blockers?": ["beta blockers"],
    "Effects of exercise, except for swimming, on sleep": ["swimming"],
    "Which regimens other than bismuth eradicate H. pylori?": ["bismuth"],
    "Apart from temperature, what ages a battery?": ["temperature"],
    "Aside from nitrogen, what limits rice yield?": ["nitrogen"],
    "Solid electrolytes, not including sulfides, in humid air": ["sulfides"],
    "Greenhouse gases not counting carbon dioxide": ["carbon dioxide"],
    "Explain knowledge graphs, leaving out embeddings": ["embeddings"],
    "Explain the origin of the earthquake, omitting the tsunami.": ["tsunami"],
    "What helps against insomnia, with the exception of pills?": ["pills"],
    "Outline the treatment of asthma and do not mention steroids.": ["steroids"],
    "How are essays scored? Don't discuss grammar checkers.": ["grammar checkers"],
    "Never mention GPT. How are essays scored?": ["GPT"],
    "Describe dialogue systems without mentioning transformers": ["transformers"],
    "Explain soil carbon without discussing biochar, please": ["biochar"],
    "Summarise the reviews, but exclude animal studies.": ["animal studies"],
    "Find papers on sensors and omit wearable devices": ["wearable devices"],
    "List recovery processes for cobalt. Leave out sulfuric acid.": ["sulfuric acid"],
    "Avoid deep learning. How can images be segmented?": ["deep learning"],
    "Compare positioning methods and please avoid GPS": ["GPS"],
    "Give an overview of stroke care, avoid discussing surgery": ["surgery"],
    "What causes migraine, but leave out hormones": ["hormones"],
    "How do vaccines work? Please do not include mRNA vaccines, but how long do they protect?": [
        "mRNA vaccines"
    ],
    "What sensors other than cameras are used in cars?": ["cameras"],
    "Which solvents other than water dissolve cellulose?": ["water"],
    "Explain how lithium is recovered, but do not discuss leaching and do not mention costs.": [
        "leaching",
        "costs",
    ],
    "Tell me about heat islands but not about trees.": ["trees"],
    "Rice methane excluding (water, soil)": ["water, soil"],
    'Rice methane excluding "water, soil" and straw': ["water, soil"],
    "Rice methane other than straw and since 2015": ["straw"],
    "Rice methane excluding straw. excluding water": ["straw", "water"],
    "Which gases except for methane, other than CO2, apart from N2O are emitted?": ["methane", "CO2", "N2O"],
    "Trials of statins, excluding drugs that are toxic": ["drugs that are toxic"],
    # Near misses
    "not excluding methane, rice emissions": [],
    "Rice emissions, but not excluding methane": [],
    "exclude nothing": [],
    "a paper excluding a": [],
    "Excluding straw, what burns? Excluding outliers improves regression": ["straw"],
    "exception handling in Java": [],
    "the excluded volume effect of polymers": [],
    "methods to avoid overfitting": [],
    "How can we avoid overfitting in small data?": [],
    "How do birds detect predators, avoid roads, and feed?": [],
    "Summarise how plants detect and avoid salt": [],
    "How do drugs kill tumours but avoid healthy tissue?": [],
    "exclusion criteria of clinical trials": [],
    "social exclusion of migrants": [],
    "What is the effect of excluding outliers on regression?": [],
    "How does excluding dairy change symptoms?": [],
    "Excluding outliers improves regression": [],
    "Which regimens eradicate the infection without bismuth?": [],
    "machine translation without parallel corpora": [],
    "Why do patients who do not report pain recover?": [],
    "Why do elderly patients never mention incontinence to doctors?": [],
    "Does omitting breakfast raise glucose?": [],
    "What sets transformers apart from recurrent networks?": [],
    "trees planted 3 m apart from each other": [],
    "Besides, does the method scale?": [],
    "try except blocks in Python": [],
    "Are results valid except when samples are small?": [],
    "Is there no solvent other than water?": [],
    "Can cells grow with nothing except glucose?": [],
    "avoidance behaviour in zebrafish": [],
    "Studies that exclude children from trials": [],
    "How are rumours about vaccines omitted from news?": [],
    "errors of omission in nursing": [],
    "How did the results differ other than expected?": [],
    "Do large models mention their sources?": [],
    "the Pauli exclusion principle": [],
}
KOREAN = {
    "납축전지를 제외하고 전지의 재활용 방법은?": ["납축전지"],
    "황산을 제외한 침출제의 효과": ["황산"],
    "서울을 제외하면 인구가 가장 많은 도시는?": ["서울"],
    "영국의 보건 제도 (북아일랜드 제외)": ["북아일랜드"],
    "설문 연구는 제외하고 알려 줘": ["설문 연구"],
    "동물실험은 제외해 주세요": ["동물실험"],
    "딥러닝 빼고 영상 분할 방법은?": ["딥러닝"],
    "스테로이드를 빼고 천식 치료를 설명해 줘": ["스테로이드"],
    "수술은 빼 주세요. 뇌졸중 치료는 어떻게 하는가?": ["수술"],
    "리튬이온전지 말고 다른 이차전지의 수명은?": ["리튬이온전지"],
    "GPS 말고 터널에서 위치를 아는 방법은?": ["GPS"],
    "카메라말고 쓰이는 센서는?": ["카메라"],
    "황화물 이외의 고체 전해질": ["황화물"],
    "이산화탄소 이외에 온실가스는 무엇인가?": ["이산화탄소"],
    "물이외의 용매": ["물"],
    "메탄 외의 온실가스 배출": ["메탄"],
    "질소 외에 벼의 수량을 좌우하는 양분은?": ["질소"],
    "운동 외에는 무엇이 효과가 있는가?": ["운동"],
    "챗봇은 언급하지 말고 교육용 도구를 소개해 줘": ["챗봇"],
    "임베딩은 다루지 말고 지식 그래프를 설명해 줘": ["임베딩"],
    "스테로이드에 대해서는 말하지 말아 줘": ["스테로이드"],
    "드론에 대한 내용은 포함하지 마세요": ["드론"],
    "백신을 언급하지 않고 면역을 설명하면?": ["백신"],
    "트랜스포머 언급 없이 번역 모형을 설명해 줘": ["트랜스포머"],
    "납, 카드뮴 등을 제외한 중금속": ["납, 카드뮴"],
    "마을을 제외한 지역": ["마을"],
    "영어를 제외하고는 어떤 언어가 쓰이는가?": ["영어"],
    "사례 보고는 제외할 것. 효과는?": ["사례 보고"],
    "음주는 거론하지 말고 간암의 원인을 알려 줘": ["음주"],
    "배지 말고 세포의 성장을 돕는 것은?": ["배지"],
    "불면증을 줄이는 약물 치료 이외의 방법": ["약물 치료"],
    "다른 연구 말고 이 연구의 한계": [],
    # Near misses
    "임상시험의 제외 기준": [],
    "제외된 환자의 특성": [],
    "이상치를 제외하는 방법": [],
    "이상치를 제외할 때의 기준": [],
    "임산부를 제외한 이유는 무엇인가?": [],
    "해외의 원격 의료 사례": [],
    "국외의 연구 동향": [],
    "예외 처리 기법": [],
    "기말고사 성적과 수면": [],
    "중간고사 불안": [],
    "소외의 사회학": [],
    "야외에서의 운동": [],
    "물을 빼고 대는 방식": [],
    "살을 빼고 유지하는 방법": [],
    "가스를 빼고 압력을 재는 장치": [],
    "쓰지 말고 버려야 하는 약": [],
    "황산을 쓰지 않고 코발트를 회수하는 방법": [],
    "체외수정의 성공률": [],
    "시간 외 근무와 피로": [],
    "수업 시간 외에 공부하는 학생": [],
    "홍길동 외 3인의 연구": [],
    "코발트를 포함하지 않는 양극재": [],
    "그 외의 요인": [],
    "이 외에 무엇이 있는가?": [],
    "운동 외에도 식이요법이 혈압에 미치는 영향": [],
    "외국인 유학생의 적응": [],
    "환자가 통증을 말하지 않는 까닭": [],
    "빼곡한 도시의 열섬": [],
    "말고삐의 역사": [],
    "실외의 미세먼지": [],
    "스테로이드 없이 천식을 치료하는 방법": [],
}


@pytest.mark.parametrize(("question", "excluded"), (ENGLISH | KOREAN).items())
def test_a_question_excludes_what_an_operator_says(question, excluded):
    assert [exclusion.text for exclusion in find_constraints(question, 2026).exclusions] == excluded


@pytest.mark.parametrize("language", ["en", "ko"])
def test_ordinary_questions_with_the_same_words_exclude_nothing(language):
    questions = (QUESTIONS / f"ordinary.{language}.txt").read_text(encoding="utf-8").splitlines()

    assert [question for question in questions if find_constraints(question, 2026)] == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_questions_exclude_in_many_words(language):
    lines = (QUESTIONS / f"excluding.{language}.tsv").read_text(encoding="utf-8").splitlines()
    asked = dict(line.split("\t") for line in lines)

    read = {
        question: " | ".join(exclusion.text for exclusion in find_constraints(question, 2026).exclusions)
        for question in asked
    }

    assert read == asked


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Which cathodes (excluding cobalt) are cheap?", "Which cathodes are cheap?"),
        (
            "Outline the treatment of asthma and do not mention steroids.",
            "Outline the treatment of asthma and .",
        ),
        ("리튬이온전지 말고 다른 이차전지의 수명은?", "다른 이차전지의 수명은?"),
        ("Which cathodes excluding “nickel, cobalt” are cheap?", "Which cathodes are cheap?"),
        ("papers since 2015 on sulfides", "papers on sulfides"),
        ("methods to avoid overfitting", "methods to avoid overfitting"),
    ],
)
def test_what_remains_of_a_question_is_searched_for(question, left):
    assert find_constraints(question, 2026).remaining(question) == left


def test_constraints_that_overlap_take_no_more_than_their_places():
    text = "Do not include papers before 2005. Rice drought"
    excluded = Exclusion("papers before 2005", "Do not include", 0, 33)

    left = Constraints((excluded,), (YearRange(None, 2004, "before 2005", 22, 33),)).remaining(text)

    assert left == ". Rice drought"


def test_papers_of_excluded_years_are_not_excluded_for_being_papers():
    assert not find_constraints("Rice drought, excluding papers before 2005", 2026).exclusions
    assert not find_constraints("2010년 이전 논문은 제외하고 벼의 가뭄", 2026).exclusions


@pytest.mark.parametrize("piece", ["등제외하고/", "excluding/a,", "가나제외하고/", "2015년 이후,"])
def test_constraints_of_a_text_with_few_spaces_are_limited(piece):
    pasted, short = find_constraints(piece * 2_000, 2026), find_constraints(piece * (900 // len(piece)), 2026)

    assert not pasted
    assert len(short.exclusions) <= 20
    assert len(short.years) <= 20


def test_decomposed_hangul_is_read_as_composed():
    question = unicodedata.normalize("NFD", "딥러닝 빼고 영상 분할 방법은?")

    assert [exclusion.text for exclusion in find_constraints(question, 2026).exclusions] == ["딥러닝"]


def test_a_pasted_passage_asks_to_leave_nothing_out():
    question = "Which patients recover, excluding children?"
    passage = "Patients recovered within weeks. " * 15 + "All were adults since 2015, excluding two children."

    assert find_constraints(question, 2026)
    assert not find_constraints(passage, 2026)
