"""Which questions need several steps, by their form."""

import pytest

from indexer.analysis import make_analyzer
from retriever.question.question_form import question_form

ANALYZER = make_analyzer("bilingual")
SEVERAL = """
In which city was the engineer who designed the Tay Rail Bridge born?
Which university did the author of the novel that "Solaris" is based on attend?
Are Lake Baikal and Lake Tanganyika both in Asia?
Which was founded first, the University of Bologna or the University of Oxford?
The catalyst described by Ziegler was later used in a process patented by which company?
서울대학교를 졸업하고 유엔 사무총장이 된 사람이 태어난 도시는 어디인가?
조선왕조실록이 등재된 목록을 관리하는 국제기구의 본부는 어느 나라에 있는가?
한국전력공사 본사가 있는 도시의 인구는 얼마인가?
이순신과 권율 가운데 누가 먼저 태어났는가?
한라산과 지리산은 둘 다 국립공원인가?
그 영화를 감독한 사람이 태어난 도시는 어디인가?
하드카본 논문을 쓴 저자가 속한 대학교는 어느 도시에 있는가?
BERT를 발표한 회사의 본사가 있는 주의 주도는 어디인가?
""".strip().splitlines()
ONE = """
What is the capital of Portugal?
When was the University of Bologna founded?
How does the carbonization temperature affect the capacity of hard carbon anodes?
Who was the first person to walk on the moon?
훈민정음을 창제한 왕은 누구인가?
하드카본 음극의 탄화 온도가 용량에 미치는 영향은 무엇인가?
미세먼지가 아동의 천식에 미치는 영향을 조사한 연구가 있는가?
간호사의 이직 의도를 낮추는 요인은 무엇인가?
한국에서 가장 높은 산은 무엇인가?
가장 많은 우승을 한 나라는 어디인가?
처음으로 이 용어를 사용한 사람은 누구인가?
""".strip().splitlines()


@pytest.mark.parametrize("question", SEVERAL)
def test_a_thing_told_by_another_and_two_things_compared_need_several_steps(question):
    assert question_form(question, ANALYZER).has_several_steps


@pytest.mark.parametrize("question", ONE)
def test_a_question_about_one_thing_needs_one_step(question):
    assert not question_form(question, ANALYZER).has_several_steps


def test_the_signs_are_counted():
    form = question_form("In which city was the engineer who designed the Tay Rail Bridge born?", ANALYZER)
    assert form.values() == {
        "clauses": 1.0,
        "participles": 0.0,
        "links": 0.0,
        "comparison": 0.0,
        "names": 1.0,
    }


@pytest.mark.parametrize("question", ["", "?", "🙂", "who who who who who", "의의의의", "a" * 20_000, "\x00"])
def test_every_text_has_a_form(question):
    assert 0 < question_form(question, ANALYZER).likelihood < 1


@pytest.mark.parametrize("question", [f"{SEVERAL[0]} " * 10, SEVERAL[0] + "x" * 2_000])
def test_a_text_that_was_pasted_in_needs_one_step(question):
    assert not question_form(question, ANALYZER).has_several_steps
