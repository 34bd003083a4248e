"""Text to tokens: properties of any text, packed tokens, names, and several processes."""

import gc
import hashlib
import json
import os
import signal
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.analysis import ANALYZERS, DECOMPOUND_MODES, make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.hanja import read_hanja, readings
from indexer.analysis.names import LONGEST_READ
from indexer.analysis.normal_form import normal_form
from indexer.analysis.packing import GAP, TERM_SEPARATOR, PassageTokens
from indexer.analysis.pool import BATCH, WorkerEnded, analyse_in_order
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


def test_all_hanja_of_the_standard_have_a_reading_and_others_are_kept():
    assert len(readings()) == 4_620
    assert read_hanja("\uf981性 学校 女") == "여성 学교 여"


@pytest.mark.parametrize("name", ["bilingual", "english"])
@given(st.text(st.sampled_from("aé1,0ﬁ+#C \u00ad女性가\u0301²，－Ａ"), max_size=30))
def test_spans_are_of_the_given_text(name, text):
    analyzer = make_analyzer(name)
    normal = normal_form(text, hanja=name != "english")

    for _, _, start, end in analyzer.analyze(text):
        assert 0 <= start < end <= len(text)
    assert normal.places is None or len(normal.places) == len(normal.text)


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_terms_that_do_not_fit_their_layout_are_an_error(mode):
    tokens = PassageTokens.pack(make_analyzer("bilingual", mode).analyze("공기업 경영의 평가 of firms"))
    words, separator = tokens.text.words(), TERM_SEPARATOR if tokens.text.positions else " "

    assert PassageTokens.of_layout([separator.join(words)], tokens.layout) == tokens
    for other in ([*words, "more"], words[:-1], []):
        with pytest.raises(ValueError, match="damaged"):
            PassageTokens.of_layout([separator.join(other)], tokens.layout)


ANALYZER_OF = {name: make_analyzer(name) for name in ANALYZERS}


@pytest.mark.parametrize("name", ANALYZERS)
@given(st.text(st.sampled_from(f"가의 aA1.-{GAP}\x1e\x1f\n")))
def test_no_analyzer_makes_a_term_of_the_gap_or_a_separator(name, text):
    terms = [token[0] for token in ANALYZER_OF[name].analyze(text)]

    assert GAP not in terms
    assert not any(letter in term for term in terms for letter in "\x1e\x1f\n")


def characters(texts, analyzer):
    return len(texts.text)


def in_processes(items, workers):
    return [
        (item, list(of.tokens.text.unpack()), list(of.tokens.title.unpack()), of.names, beside)
        for item, _, of, beside in analyse_in_order(
            ((item, SimpleNamespace(title=item[0], text=item[1], title2="")) for item in items),
            characters,
            analyzer="bilingual",
            decompound="discard",
            workers=workers,
        )
    ]


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH + 3])
def test_two_processes_give_the_same_in_the_same_order(count):
    items = [(f"제목 {number}", f"methane of Marta Quillon {number} 배출량") for number in range(count)]

    assert in_processes(items, workers=2) == in_processes(items, workers=1)


def test_what_the_source_raises_comes_through():
    def items():
        yield from [("", "word")] * (3 * BATCH)
        raise LookupError("the end of the world")

    with pytest.raises(LookupError, match="the end of the world"):
        in_processes(items(), workers=2)


def killed_at_work(texts, analyzer):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_while_it_sends(texts, analyzer):
    connection = next(found for found in gc.get_objects() if isinstance(found, Connection))
    os.write(connection.fileno(), struct.pack("!i", 1_000) + b"half")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("beside", [killed_at_work, killed_while_it_sends])
def test_a_killed_process_ends_the_analysis(beside):
    texts = SimpleNamespace(title="", text="word", title2="")
    items = ((number, texts) for number in range(3 * BATCH))

    with pytest.raises(WorkerEnded):
        list(analyse_in_order(items, beside, analyzer="english", decompound="discard", workers=2))


FILLING = "some plain words of a text that goes on "


def passage_of(text, title="", title2="", analyzer=BILINGUAL):
    return AnalysedPassage.of(title, text, title2, analyzer)


def test_a_name_is_known_by_the_place_of_its_first_token():
    passage = passage_of("It was the map of Marta Quillon.", "Maps")

    assert passage.tokens.text.words() == ["map", ".", ".", ".", "map", ".", "marta", "quillon"]
    assert passage.names == ((6, 2),)


@pytest.mark.parametrize(
    "filling", [FILLING, "여러 낱말로 된 글이 이어진다 ", "그 글은 some plain words of it "]
)
def test_of_a_long_text_only_the_beginning_is_searched_for_names(filling):
    long = filling * (2 * LONGEST_READ // len(filling))
    passage = passage_of(f"He met Marta Quillon. {long} She met Ada Kim in it.")

    words = passage.tokens.text.words()
    assert [words[first : first + length] for first, length in passage.names] == [["marta", "quillon"]]
    assert "kim" in words
