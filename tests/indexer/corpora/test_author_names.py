"""Names of authors, split into their parts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.names.author_name import AuthorName, split_name
from indexer.corpora.names.lists import names_in
from tests.hostile import TEXTS

LATIN = {
    "Ada Kim": ("Kim", "Ada"),
    "Kim, Ada": ("Kim", "Ada"),
    "J. R. R. Tolkien": ("Tolkien", "J. R. R."),
    "Eva-Maria Müller": ("Müller", "Eva-Maria"),
    "Ludwig van Beethoven": ("Beethoven", "Ludwig", "van"),
    "Johannes van der Waals": ("Waals", "Johannes", "van der"),
    "van der Waals, Johannes": ("Waals", "Johannes", "van der"),
    "Waals, Johannes van der": ("Waals", "Johannes", "van der"),
    "María de la Cruz López": ("Cruz López", "María", "de la"),
    "José Ortega y Gasset": ("Ortega y Gasset", "José"),
    "Robert De Niro": ("De Niro", "Robert"),
    "Vincent Van Gogh": ("Van Gogh", "Vincent"),
    "Hung Van Nguyen": ("Nguyen", "Hung Van"),
    "Gerard 't Hooft": ("Hooft", "Gerard", "'t"),
    "Jean d'Alembert": ("d'Alembert", "Jean"),
    "Martin Luther King Jr.": ("King", "Martin Luther", "", "Jr."),
    "Martin Luther King, Jr.": ("King", "Martin Luther", "", "Jr."),
    "King, Martin Luther, Jr.": ("King", "Martin Luther", "", "Jr."),
    "King, Jr., Martin Luther": ("King", "Martin Luther", "", "Jr."),
    "King Jr., Martin Luther": ("King", "Martin Luther", "", "Jr."),
    "Henry Louis Gates III": ("Gates", "Henry Louis", "", "III"),
    "João Silva Filho": ("Silva Filho", "João"),
    "Müller EM": ("Müller", "EM"),
    "van den Berg J.A.": ("Berg", "J.A.", "van den"),
    "JH Kim": ("Kim", "JH"),
    "KIM Minsu": ("KIM", "Minsu"),
    "Minsu KIM": ("KIM", "Minsu"),
    "Kim Min-su": ("Kim", "Min-su"),
    "Min-su Kim": ("Kim", "Min-su"),
    "Ali ibn Sina": ("Sina", "Ali", "ibn"),
    "Muhammad al-Khwarizmi": ("al-Khwarizmi", "Muhammad"),
    "Анна Иванова": ("Иванова", "Анна"),
}
KOREAN = {
    "곽소율": ("곽", "소율"),
    "이수": ("이", "수"),
    "곽 소율": ("곽", "소율"),
    "소율 곽": ("곽", "소율"),
    "김빛나라": ("김", "빛나라"),
    "남궁민재": ("남궁", "민재"),
    "남궁 민재": ("남궁", "민재"),
    "남궁원": ("남궁", "원"),
    "황보민재": ("황보", "민재"),
    "황보라": ("황", "보라"),
    "제갈량": ("제갈", "량"),
    "사공일": ("사공", "일"),
    "선우은숙": ("선우", "은숙"),
    "독고영재": ("독고", "영재"),
    "서문지원": ("서문", "지원"),
    "곽, 소율": ("곽", "소율"),
    "리철수": ("리", "철수"),
}
WHOLE = (
    "Plato",
    "World Health Organization",
    "ATLAS Collaboration",
    "University of Seoul, Department of Physics",
    "Kim and Lee",
    "Kim & Lee",
    "bell hooks",
    "de Souza",
    "Smith III",
    "김민수(Minsu Kim)",
    "한국과학기술정보연구원",
    "이화여자대학교",
    "통계청",
    "대한민국 정부",
    "남궁",
    "아인슈타인",
    "뷁소율",
    "王小明",
    "a, b, c, d",
    "Smith, John, PhD",
    ",",
    "",
)


@pytest.mark.parametrize(("text", "parts"), [*LATIN.items(), *KOREAN.items()])
def test_a_name_is_split_into_family_given_particle_and_suffix(text, parts):
    assert split_name(text) == AuthorName(*parts)


@pytest.mark.parametrize("text", WHOLE)
def test_a_name_that_cannot_be_split_stays_whole(text):
    assert split_name(text) == AuthorName(text)


def test_an_unsplit_name_of_ris_loses_its_comma():
    assert split_name("World Health Organization,") == AuthorName("World Health Organization")


@pytest.mark.parametrize(
    ("text", "inverted", "natural"),
    [
        ("Johannes van der Waals", "van der Waals, Johannes", "Johannes van der Waals"),
        ("King, Martin Luther, Jr.", "King, Martin Luther, Jr.", "Martin Luther King Jr."),
        ("남궁 민재", "남궁, 민재", "남궁민재"),
        ("통계청", "통계청", "통계청"),
    ],
)
def test_a_name_is_written_inverted_or_in_its_natural_order(text, inverted, natural):
    name = split_name(text)

    assert (str(name), name.natural) == (inverted, natural)


def test_decomposed_hangul_is_split_by_syllables():
    assert split_name("\u1100\u116a\u11a8\u1109\u1169\u110b\u1172\u11af") == AuthorName("곽", "소율")


LISTS = {
    "김철수, 이영희": ["김철수", "이영희"],
    "김 철수·이 영희": ["김철수", "이영희"],
    "김철수 / 이영희;박민수|정수": ["김철수", "이영희", "박민수", "정수"],
    "김철수(서울대학교), 이영희 (부산대학교)": ["김철수", "이영희"],
    "강가은(POSTECH), 문도영 (한밭대, 물리학과)": ["강가은", "문도영"],
    "강가은(교신저자); 문도영(文道英)": ["강가은", "문도영(文道英)"],
    "강가은*, 문도영2), 하늘3": ["강가은", "문도영", "하늘"],
    "김철수(Kim, Chulsoo); 이영희(Lee, Younghee)": ["김철수(Kim, Chulsoo)", "이영희(Lee, Younghee)"],
    "김철수, Lee Younghee": ["김철수", "Lee Younghee"],
    "김철수, 이영희 외 3명": ["김철수", "이영희"],
    "김철수 외": ["김철수"],
    "이외수": ["이외수"],
    "김철수 저": ["김철수"],
    "김철수, 박, 민수, 남궁, 민재": ["김철수", "박민수", "남궁민재"],
    "金哲洙, 李英姬": ["金哲洙", "李英姬"],
    "李, 舜臣": ["李, 舜臣"],
    "논 학회지": ["논 학회지"],
    "Kim, Ada; Jang, B.": ["Kim, Ada", "Jang, B."],
    "Kim, Ada": ["Kim, Ada"],
    "Ortega y Gasset, José Luis": ["Ortega y Gasset, José Luis"],
    "Gatica, G.N., Kim, C.-S.": ["Gatica, G.N.", "Kim, C.-S."],
    "Kim, Ada, Lee, Bob": ["Kim, Ada", "Lee, Bob"],
    "Kim Chulsoo, Lee Younghee": ["Kim Chulsoo", "Lee Younghee"],
    "Loyd AC, Müller M, et al.": ["Loyd AC", "Müller M"],
    "Kim, A., Lee, B. C., & Jang, D.": ["Kim, A.", "Lee, B. C.", "Jang, D."],
    "Ada Kim, Bob Lee, and Cho Jang": ["Ada Kim", "Bob Lee", "Cho Jang"],
    "Office of Rice, Paddies, and Water": ["Office of Rice, Paddies, and Water"],
    "King, Jr., Martin Luther": ["King, Jr., Martin Luther"],
    "University of Seoul, Department of Physics": ["University of Seoul, Department of Physics"],
    "World Health Organization,": ["World Health Organization"],
    "Kim,, Lee A,": ["Kim,, Lee A"],
}


@pytest.mark.parametrize(("text", "names"), LISTS.items())
def test_a_list_of_names_is_split_composed_or_decomposed(text, names):
    decomposed = [unicodedata.normalize("NFC", name) for name in names_in(unicodedata.normalize("NFD", text))]

    assert (names_in(text), decomposed) == (names, [unicodedata.normalize("NFC", name) for name in names])


@given(TEXTS | st.text(st.sampled_from("김철수,;|·() ABae.외저박")))
def test_no_text_stops_the_splitting_of_names(text):
    assert all(name.strip() for name in names_in(text))


@given(st.sampled_from([*LATIN, *KOREAN, *WHOLE]) | TEXTS)
def test_an_inverted_name_is_split_the_same_again(text):
    name = split_name(text)

    assert split_name(str(name)) == name
