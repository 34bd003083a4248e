"""Text to tokens: a table of texts, and properties of any text."""

import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.analysis import make_analyzer
from indexer.analysis.porter import porter_stem
from indexer.versions.manifest import ANALYSIS_VERSION

KOREAN, BILINGUAL, ENGLISH = map(make_analyzer, ("korean", "bilingual", "english"))
CHAINS = {
    "korean": KOREAN,
    "bilingual": BILINGUAL,
    "english": ENGLISH,
    "mixed": make_analyzer("korean", "mixed"),
    "none": make_analyzer("korean", "none"),
}
SAMPLE = Path(__file__).parents[3] / "sample" / "papers.jsonl"
# The tokens of the sample by all chains; with other tokens `ANALYSIS_VERSION` is another number.
TOKENS = {3: "656c79e238dd39c4"}

# Letters of many scripts, marks, digits, signs, spaces and controls; no halves of a pair.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
SCHOLARLY = st.lists(
    st.sampled_from(
        "지식 그래프를 비선형 만드는 三國志 十一 km² knowledge graphs' 😀 ㄱㅏ \t \n ― ١٢ é é — ﷺ".split(" ")
    ),
    max_size=12,
).map("".join)
LONG_WORD = "abcdefghijklmnopqrstuvwxyz" * 7

# chain, text, tokens as term@position:start-end
ROWS = [
    # dropped particles and stop words leave a gap
    ("korean", "그래프를 위한 검색", "그래프@0:0-3 위하@2:5-7 검색@4:8-10"),
    ("bilingual", "graphs of the knowledge", "graph@0:0-6 knowledg@3:14-23"),
    ("english", "graphs of the knowledge", "graph@0:0-6 knowledg@3:14-23"),
    # compounds and inflected words
    ("korean", "형태소분석", "형태@0:0-2 소@1:2-3 분석@2:3-5"),
    ("mixed", "형태소분석", "형태소@0:0-3 형태@0:0-2 소@1:2-3 분석@2:3-5"),
    ("none", "형태소분석", "형태소@0:0-3 분석@1:3-5"),
    ("korean", "동명왕", "동명@0:0-2 왕@1:2-3"),  # 해릉 + 왕 in the dictionary
    ("korean", "재미있게", "재밌@0:0-3"),
    ("korean", "정진해 온 교사", "정진@0:0-3 오@3:4-5 교사@5:6-8"),
    ("korean", "비선형 회귀", "비@0:0-1 선형@1:1-3 회귀@2:4-6"),
    # Hanja is read as Hangul
    ("korean", "學術 論文", "학술@0:0-2 논문@1:3-5"),
    ("korean", "大韓民國", "대한@0:0-2 민국@1:2-4"),
    # both languages
    ("bilingual", "The graphs를 이용한 검색", "graph@1:4-10 이용@3:12-14 검색@6:16-18"),
    ("korean", "The Running of dogs", "the@0:0-3 running@1:4-11 of@2:12-14 dogs@3:15-19"),
    ("english", "The cat's running of the dogs'", "cat@1:4-9 run@2:10-17 dog@5:25-29"),
    ("english", "don't 10.5 e-mail", "don't@0:0-5 10.5@1:6-10 e@2:11-12 mail@3:13-17"),
    ("english", "x" * 300, f"{'x' * 255}@0:0-255 {'x' * 45}@1:255-300"),
    ("korean", f"{LONG_WORD} 연구", f"{LONG_WORD}@0:0-182 연구@1:183-185"),
    # punctuation, signs, flags, emoji
    ("bilingual", "… — 「」 ?! ( )", ""),
    ("english", "… — 「」 ?! ( )", ""),
    ("korean", "힌두교ㆍ불교", "힌두@0:0-2 교@1:2-3 불교@2:4-6"),
    ("korean", "EOS 논문\nEOS", "eos@0:0-3 논문@1:4-6 eos@2:7-10"),  # the end of MeCab's output
    ("english", "x🇰🇷y 🇰 🇺🇸", "x@0:0-1 🇰🇷@1:1-3 y@2:3-4 🇺🇸@3:7-9"),
    ("korean", "😀 그래프 😀😀", "😀@0:0-1 그래프@1:2-5 😀😀@2:6-8"),
    ("korean", "İstanbul", "istanbul@0:0-8"),
    # white space and controls separate words and keep the offsets
    *(("korean", f"지식{space}그래프", "지식@0:0-2 그래프@1:3-6") for space in "\t\n\x00\x0b\u3000\xa0"),
    *(("korean", f"{space}지식", f"지식@0:{len(space)}-{len(space) + 2}") for space in ("   ", " \t\r\n ")),
]


def tokens_of(chain, text):
    return " ".join(f"{term}@{position}:{start}-{end}" for term, position, start, end in chain.analyze(text))


def test_texts_and_their_tokens():
    found = [(chain, text, tokens_of(CHAINS[chain], text)) for chain, text, _ in ROWS]

    assert found == ROWS


def test_other_tokens_have_another_version():
    digest = hashlib.sha256()
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        for chain in CHAINS.values():
            digest.update(json.dumps(chain.analyze(line), ensure_ascii=False).encode())

    assert {ANALYSIS_VERSION: digest.hexdigest()[:16]} == TOKENS


@pytest.mark.parametrize("mark", "·ㆍ.,:;!?…–—―‘’“”()[]{}「」『』〈〉《》※→○●■▲+/=×%°")
def test_a_mark_beside_a_word_leaves_the_word(mark):
    for text in (f"무역{mark}정책", f"무역{mark} 정책", f"무역 {mark}정책"):
        assert {"무역", "정책"} <= {token[0] for token in KOREAN.analyze(text)}


def test_a_long_text_is_read_to_its_end():
    sentence = "지식 그래프 검색 "
    tokens = KOREAN.analyze(sentence * 3_000)  # 30,000 characters: three pieces

    assert tokens[-1] == ("검색", 8_999, 29_997, 29_999)
    assert [token[1] for token in tokens] == list(range(9_000))
    assert KOREAN.analyze("가" * 25_000)[-1][3] == 25_000


@pytest.mark.parametrize("name", CHAINS)
@given(text=ANY_TEXT | SCHOLARLY)
@example("")
@example("\ufeff\u200d\u0301")
@example("각" + "\u3000" + "三國" * 20)
def test_any_text_has_tokens_within_it_with_and_without_parts_of_speech(name, text):
    tokens = CHAINS[name].analyze(text)

    assert all(0 <= start < end <= len(text) and term for term, _, start, end in tokens)
    positions = [token[1] for token in tokens]
    assert positions == sorted(positions)
    assert all(position >= 0 for position in positions)
    assert [token for token, _ in CHAINS[name].tagged_tokens(text)] == tokens
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


@pytest.mark.parametrize(
    ("chain", "text", "tags"),
    [
        ("bilingual", "수를 셀 수 있는 AI 3대", "수/NNG 세/VV 수/NNB 있/VV ai/SL 3/SN 대/NNBC"),
        ("bilingual", "대한민국", "대한/NNP 민국/NNP"),  # parts of a proper noun
        ("english", "the graphs", "graph/"),
    ],
)
def test_tokens_have_parts_of_speech(chain, text, tags):
    assert " ".join(f"{token[0]}/{tag}" for token, tag in CHAINS[chain].tagged_tokens(text)) == tags


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("hopping", "hop")),
        *(("filing", "file"), ("sky", "sky"), ("happy", "happi"), ("relational", "relat")),
        *(("vietnamization", "vietnam"), ("sensibiliti", "sensibl"), ("electriciti", "electr")),
        *(("replacement", "replac"), ("adoption", "adopt"), ("probate", "probat")),
        *(("controll", "control"), ("archaeology", "archaeolog"), ("possibly", "possibl"), ("as", "as")),
    ],
)
def test_a_word_is_stemmed_as_porter_does(word, stem):
    assert porter_stem(word) == stem
