"""The normal form of texts and questions, and the readings of Hanja."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.analysis.hanja import read_hanja, readings
from indexer.analysis.normal_form import normal_form

READ = """
女性:여성 男女:남녀 賃金:임금 基金:기금 歷史:역사 理論:이론 論理:논리 料理:요리
原料:원료 勞動:노동 過勞:과로 來日:내일 未來:미래 年度:연도 學年:학년 列車:열차
系列:계열 行列:행렬 羅列:나열 比率:비율 確率:확률 出生率:출생률 失敗率:실패율 百分率:백분율
規律:규율 法律:법률 旋律:선율 不足:부족 不動産:부동산 不可能:불가능 不正:부정 更新:갱신
變更:변경 容易:용이 貿易:무역 音樂:음악 娛樂:오락 樂園:낙원 復活:부활 回復:회복
殺到:쇄도 省略:생략 反省:반성 分泌:분비 閉塞:폐색 住宅:주택 綠茶:녹차 醫療:의료
治療:치료 倫理:윤리 領土:영토 旅行:여행 兩國:양국 龍:용 六:육 大韓民國:대한민국
中華人民共和國:중화인민공화국 李舜臣:이순신 敎育:교육 敗北:패배 洞察:통찰
"""


@pytest.mark.parametrize("pair", READ.split())
def test_hanja_are_read_as_koreans_read_them(pair):
    written, read = pair.split(":")

    assert read_hanja(written) == read
    assert [token[0] for token in make_analyzer("korean").analyze(written)] == [
        token[0] for token in make_analyzer("korean").analyze(read)
    ]


def test_all_hanja_of_the_standard_have_a_reading_and_others_are_kept():
    assert len(readings()) == 4_620
    assert read_hanja("\uf981性 学校 女") == "여성 学교 여"


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("naïve Müller Łódź straße Ægir Schro\u0308dinger", "naive Muller Lodz strasse AEgir Schrodinger"),
        ("ﬁeld eﬃcient", "field efficient"),
        ("ＡＩ ２０２４ １，０００ Ｃ＃", "AI 2024 1000 Csharp"),
        ("CO₂ H₂O₂ km² ㎏ ℃ Ⅲ 𝑥", "CO2 H2O2 km2 kg °C III x"),
        ("10⁶ 10⁻³ 5½ Word™ word¹² ﾊﾞ ㉠", "10⁶ 10⁻³ 5½ Word™ word¹² ﾊﾞ ㉠"),
        ("tu\u00admour 감염\u200b병 \ufeffA", "tumour 감염병 A"),
        ("1,000 ha, 12,345,678; 1,234.5", "1000 ha, 12345678; 1234.5"),
        ("2019,2020 1,23 0.1,000 0,001 1,0000 1,000,00", "2019,2020 1,23 0.1,000 0,001 1,0000 1,000,00"),
        ("C++, C#로 (F#)", "Cpp, Csharp로 (Fsharp)"),
        ("Ca++ C#m k-means++ C+ #1", "Ca++ C#m k-means++ C+ #1"),
        ("ㄱ ㆍ й Ἀ が 한", "ㄱ ㆍ й Ἀ が 한"),
    ],
)
def test_one_normal_form_of_texts_and_questions(written, normal):
    assert normal_form(unicodedata.normalize("NFC", written), hanja=True).text == normal


@pytest.mark.parametrize("name", ["bilingual", "english"])
@given(st.text(st.sampled_from("aé1,0ﬁ+#C \u00ad女性가\u0301²，－Ａ"), max_size=30))
def test_spans_are_of_the_given_text(name, text):
    analyzer = make_analyzer(name)
    normal = normal_form(text, hanja=name != "english")

    for _, _, start, end in analyzer.analyze(text):
        assert 0 <= start < end <= len(text)
    assert normal.places is None or len(normal.places) == len(normal.text)
