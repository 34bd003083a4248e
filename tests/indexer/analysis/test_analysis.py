"""Text to tokens: what the chains make of Korean, English and both in one sentence."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import _mecab
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.analysis import make_analyzer
from indexer.analysis.dictionary import MARKS, open_tagger
from indexer.analysis.porter import porter_stem
from indexer.versions.fingerprint import fixed_texts

KOREAN = make_analyzer("korean")
BILINGUAL = make_analyzer("bilingual")
ENGLISH = make_analyzer("english")
MIXED = make_analyzer("korean", "mixed")
WHOLE = make_analyzer("korean", "none")
CHAINS = {"korean": KOREAN, "bilingual": BILINGUAL, "english": ENGLISH, "mixed": MIXED, "none": WHOLE}

# Letters of many scripts, marks, digits, signs, spaces and controls; no halves of a pair.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
SCHOLARLY = st.lists(
    st.sampled_from(
        "지식 그래프를 비선형 만드는 三國志 十一 km² knowledge graphs' 😀 ㄱㅏ \t \n ― ١٢ é é — ﷺ".split(" ")
    ),
    max_size=12,
).map("".join)


def terms(analyzer, text):
    return [token[0] for token in analyzer.analyze(text)]


def test_a_further_analyzer_needs_no_room_for_temporary_files(monkeypatch, tmp_path):
    make_analyzer("korean")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert terms(make_analyzer("korean"), "논의 메탄") == terms(KOREAN, "논의 메탄")


def test_of_two_dictionary_entries_alike_the_first_is_taken():
    assert KOREAN.analyze("만드는 방법") == [("만들", 0, 0, 2), ("방법", 2, 4, 6)]
    assert terms(KOREAN, "이것은") == ["이거"]


def test_of_an_inflected_and_a_plain_entry_alike_the_inflected_is_taken():
    assert terms(KOREAN, "재미있게") == ["재밌"]


def test_the_parts_of_a_compound_are_written_as_in_the_text():
    assert KOREAN.analyze("동명왕") == [("동명", 0, 0, 2), ("왕", 1, 2, 3)]  # 해릉 + 왕 in the dictionary


def test_unknown_punctuation_takes_the_space_behind_it_so_that_a_particle_may_follow():
    assert KOREAN.analyze("꽃: 은방울꽃") == [
        ("꽃", 0, 0, 1),
        ("은", 1, 3, 4),
        ("방울", 2, 4, 6),
        ("꽃", 3, 6, 7),
    ]
    assert KOREAN.analyze("꽃 - 은방울꽃") == [("꽃", 0, 0, 1), ("방울", 2, 5, 7), ("꽃", 3, 7, 8)]


def test_the_second_of_several_spaces_is_a_word_to_what_follows():
    assert terms(KOREAN, " 오대호(五大湖)는") == ["오대호", "五", "대호"]
    assert terms(KOREAN, "  오대호(五大湖)는") == ["오대", "호", "五", "대호"]
    assert terms(KOREAN, "가\u3000나") == terms(KOREAN, "가 나")


def test_known_punctuation_before_a_space_is_read_as_the_dictionary_has_it():
    assert KOREAN.analyze("개발사이다. 1") == [
        ("개발", 0, 0, 2),
        ("사이", 1, 2, 4),
        ("이", 2, 4, 5),
        ("1", 4, 7, 8),
    ]
    assert terms(KOREAN, "共和國, , )은") == ["공화"]


def test_doubtful_marks_of_several_kinds_are_each_read_as_what_they_are():
    assert terms(KOREAN, "미생물? : ” 중증도의. 관련성") == ["미", "생물", "중", "증도", "관련"]


def test_a_sentence_is_read_alike_whether_or_not_another_is_doubtful():
    sentence = "유럽 중앙에 있다. 사람들이 개발사이다. 1"
    alone = [token[0] for token in KOREAN.analyze(sentence)]

    assert terms(KOREAN, f"독일(, , )이다. {sentence}") == ["독일", "이", *alone]


def test_what_ends_a_sentence_to_mecab_is_a_word_as_any():
    assert terms(KOREAN, "EOS, , 가, , 나") == ["eos", "가", "나"]


@pytest.mark.parametrize("text", ["? ", ", , ", "가 ? ", "가. 國, "])
def test_a_doubtful_mark_may_end_the_text(text):
    assert KOREAN.analyze(text + " ") == KOREAN.analyze(text)


def test_the_stand_ins_of_marks_have_the_marks_entries():
    tagger, lattice = open_tagger(), _mecab.Lattice()
    entries = {}
    for sign in (*MARKS, *MARKS.values()):
        lattice.set_sentence(sign)
        tagger.parse(lattice)
        node, found = lattice.begin_nodes(0), []
        while node is not None:
            found.append((node.lc_attr, node.rc_attr, node.wcost, str(node.feature), node.stat))
            node = node.bnext
        entries[sign] = [entry[:4] for entry in found if entry[4] != _mecab.MECAB_UNK_NODE]
        if sign in MARKS.values():
            assert len(found) == 1  # never an unknown word
    assert [entries[mark] for mark in MARKS] == [entries[stand_in] for stand_in in MARKS.values()]


def test_the_korean_interpunct_separates_words():
    assert terms(KOREAN, "힌두교ㆍ불교") == ["힌두", "교", "불교"]


def test_text_full_of_doubtful_punctuation_is_read_to_its_end():
    text = "國, " * 5_000
    assert len(KOREAN.analyze(text)) > 0
    assert KOREAN.analyze(text + "논문")[-1][0] == "논문"


def test_a_prefix_is_kept_as_a_token_of_its_own():
    assert KOREAN.analyze("비선형 회귀") == [("비", 0, 0, 1), ("선형", 1, 1, 3), ("회귀", 2, 4, 6)]


def test_hanja_is_read_as_hangul():
    assert terms(KOREAN, "學術 論文") == terms(KOREAN, "학술 논문") == ["학술", "논문"]
    assert KOREAN.analyze("大韓民國") == [("대한", 0, 0, 2), ("민국", 1, 2, 4)]


def test_chinese_numerals_run_together_and_stop_before_a_known_word():
    assert KOREAN.analyze("十一月") == [("十一", 0, 0, 2), ("월", 1, 2, 3)]
    assert terms(KOREAN, "一三") == ["一三"]


def test_a_unit_with_a_raised_digit_is_one_token():
    assert KOREAN.analyze("넓이 10km² 지역") == [
        ("넓이", 0, 0, 2),
        ("10", 1, 3, 5),
        ("km²", 2, 5, 8),
        ("지역", 3, 9, 11),
    ]


def test_a_run_of_one_script_goes_on_over_signs_of_no_script():
    assert terms(KOREAN, "ˈmæɹɪlənd 주") == ["ˈmæɹɪlənd", "주"]


@pytest.mark.parametrize("letters", [24, 25, 32, 200])
def test_a_long_word_stays_whole(letters):
    word = ("abcdefghijklmnopqrstuvwxyz" * 8)[:letters]

    assert KOREAN.analyze(f"{word} 연구") == [(word, 0, 0, letters), ("연구", 1, letters + 1, letters + 3)]


def test_a_dropped_particle_leaves_a_gap():
    assert KOREAN.analyze("그래프를 위한 검색") == [
        ("그래프", 0, 0, 3),
        ("위하", 2, 5, 7),
        ("검색", 4, 8, 10),
    ]


def test_a_dropped_stop_word_leaves_a_gap():
    assert BILINGUAL.analyze("graphs of the knowledge") == [("graph", 0, 0, 6), ("knowledg", 3, 14, 23)]
    assert ENGLISH.analyze("graphs of the knowledge") == [("graph", 0, 0, 6), ("knowledg", 3, 14, 23)]


@pytest.mark.parametrize("space", ["   ", "\t", "\n", " \t\r\n ", "\u3000"])
def test_leading_white_space_only_moves_the_offsets(space):
    plain = KOREAN.analyze("지식 그래프")
    moved = [(term, position, start + len(space), end + len(space)) for term, position, start, end in plain]

    assert plain == [("지식", 0, 0, 2), ("그래프", 1, 3, 6)]
    assert KOREAN.analyze(f"{space}지식 그래프") == moved


@pytest.mark.parametrize("space", ["\t", "\n", "\x00", "\x0b", "\r\n"])
def test_controls_separate_words_and_keep_the_offsets(space):
    behind = 2 + len(space)

    assert KOREAN.analyze(f"지식{space}그래프") == [("지식", 0, 0, 2), ("그래프", 1, behind, behind + 3)]


def test_a_long_text_has_the_tokens_of_its_sentences_with_offsets_in_the_whole():
    sentence = "지식 그래프 검색 "
    text = sentence * 3_000  # 30,000 characters: three pieces

    tokens = KOREAN.analyze(text)

    assert len(tokens) == 9_000
    assert tokens[-1] == ("검색", 8_999, 29_997, 29_999)
    assert all(text[start:end] == term for term, _, start, end in tokens)
    assert [token[1] for token in tokens] == list(range(9_000))


def test_a_long_text_without_spaces_is_read_to_its_end():
    tokens = KOREAN.analyze("가" * 25_000)

    assert tokens[-1][3] == 25_000


@pytest.mark.parametrize(
    ("analyzer", "tokens"),
    [
        (KOREAN, [("형태", 0, 0, 2), ("소", 1, 2, 3), ("분석", 2, 3, 5)]),
        (MIXED, [("형태소", 0, 0, 3), ("형태", 0, 0, 2), ("소", 1, 2, 3), ("분석", 2, 3, 5)]),
        (WHOLE, [("형태소", 0, 0, 3), ("분석", 1, 3, 5)]),
    ],
    ids=["discard", "mixed", "none"],
)
def test_a_compound_is_taken_apart_stacked_or_left_whole(analyzer, tokens):
    assert analyzer.analyze("형태소분석") == tokens


def test_emoji_are_tokens_with_offsets_in_code_points():
    assert KOREAN.analyze("😀 그래프 😀😀") == [("😀", 0, 0, 1), ("그래프", 1, 2, 5), ("😀😀", 2, 6, 8)]


def test_punctuation_has_no_tokens():
    assert terms(BILINGUAL, "… — 「」 ?! ( )") == []
    assert terms(ENGLISH, "… — 「」 ?! ( )") == []


def test_korean_neither_stems_nor_drops_english():
    assert terms(KOREAN, "The Running of dogs") == ["the", "running", "of", "dogs"]


def test_bilingual_reads_both_in_one_sentence():
    assert terms(BILINGUAL, "The knowledge graphs를 이용한 검색") == ["knowledg", "graph", "이용", "검색"]


def test_english_drops_possessive_and_stop_words_and_stems():
    assert ENGLISH.analyze("The cat's running of the dogs'") == [
        ("cat", 1, 4, 9),
        ("run", 2, 10, 17),
        ("dog", 5, 25, 29),
    ]


def test_english_cuts_at_word_boundaries():
    assert terms(ENGLISH, "don't 10.5 e-mail") == ["don't", "10.5", "e", "mail"]
    assert [token[1:] for token in ENGLISH.analyze("x" * 300)] == [(0, 0, 255), (1, 255, 300)]


def test_english_takes_a_flag_for_a_word_and_half_of_one_for_none():
    assert terms(ENGLISH, "x🇰🇷y 🇰 🇺🇸") == ["x", "🇰🇷", "y", "🇺🇸"]


def test_lowercase_never_changes_the_length():
    assert KOREAN.analyze("İstanbul") == [("istanbul", 0, 0, 8)]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("sky", "sky"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("vietnamization", "vietnam"),
        ("sensibiliti", "sensibl"),
        ("electriciti", "electr"),
        ("replacement", "replac"),
        ("adoption", "adopt"),
        ("probate", "probat"),
        ("controll", "control"),
        ("archaeology", "archaeolog"),
        ("possibly", "possibl"),
        ("as", "as"),
    ],
)
def test_a_word_is_stemmed_as_porter_does(word, stem):
    assert porter_stem(word) == stem


@pytest.mark.parametrize("name", CHAINS)
@given(text=ANY_TEXT | SCHOLARLY)
@example("")
@example("\ufeff\u200d\u0301")
@example("각" + "\u3000" + "三國" * 20)
def test_any_text_has_tokens_within_it(name, text):
    tokens = CHAINS[name].analyze(text)

    assert all(0 <= start < end <= len(text) and term for term, _, start, end in tokens)
    positions = [token[1] for token in tokens]
    assert positions == sorted(positions)
    assert all(position >= 0 for position in positions)


@given(text=SCHOLARLY)
def test_a_text_has_the_same_tokens_whatever_was_read_before(text):
    assert make_analyzer("bilingual").analyze(text) == BILINGUAL.analyze(text)


def test_threads_that_share_an_analyzer_get_the_tokens_of_their_own_texts():
    texts = [f"신규 간호사의 회복탄력성 {n}과 이직 의도 resilience {n}" * 5 for n in range(100)] * 5
    alone = [BILINGUAL.analyze(text) for text in texts]
    shared = make_analyzer("bilingual")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(shared.analyze, texts)) == alone
    finally:
        sys.setswitchinterval(interval)


def test_an_unknown_analyzer_names_those_there_are():
    with pytest.raises(InvalidCall, match="bilingual, korean, english"):
        make_analyzer("nori")
    with pytest.raises(InvalidCall, match="discard, mixed, none"):
        make_analyzer("korean", "split")  # type: ignore[arg-type]  # as a command line may


def test_tokens_of_a_question_come_with_their_parts_of_speech():
    tagged = BILINGUAL.tagged_tokens("수를 셀 수 있는 AI 3대를 알려줘")
    assert [(token[0], tag) for token, tag in tagged] == [
        ("수", "NNG"),
        ("세", "VV"),
        ("수", "NNB"),
        ("있", "VV"),
        ("ai", "SL"),
        ("3", "SN"),
        ("대", "NNBC"),
        ("알리", "VV"),
        ("주", "VX"),
    ]


def test_parts_of_a_proper_noun_are_proper_nouns():
    tagged = BILINGUAL.tagged_tokens("대한민국")
    assert [(token[0], tag) for token, tag in tagged] == [("대한", "NNP"), ("민국", "NNP")]


def test_english_alone_has_no_parts_of_speech():
    assert ENGLISH.tagged_tokens("the graphs") == [(("graph", 1, 4, 10), "")]


@given(st.sampled_from(list(CHAINS)), ANY_TEXT | SCHOLARLY)
@example("bilingual", "\n".join(fixed_texts()))
@example("mixed", "\n".join(fixed_texts()))
@example("none", "\n".join(fixed_texts()))
def test_tagged_tokens_are_those_of_the_plain_analysis(chain, text):
    assert [token for token, _ in CHAINS[chain].tagged_tokens(text)] == CHAINS[chain].analyze(text)
