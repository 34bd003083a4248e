"""What an analyzer remembers, and what it lets go."""

import sys
from concurrent.futures import ThreadPoolExecutor

from indexer.analysis import make_analyzer
from retriever.remembering import RememberingAnalyzer
from tests.retriever.papers import CountingAnalyzer


def remembering(most):
    counted = CountingAnalyzer(make_analyzer("english", "none"))
    return RememberingAnalyzer(counted, most), counted


def test_a_text_is_analysed_once():
    analyzer, counted = remembering(10)

    assert analyzer.analyze("graphs") == [("graph", 0, 0, 6)]
    assert analyzer.analyze("graphs") == [("graph", 0, 0, 6)]
    assert counted.texts == ["graphs"]


def test_it_is_told_by_the_name_of_the_analyzer_behind_it():
    analyzer, _ = remembering(10)
    assert (analyzer.name, analyzer.decompound) == ("english", "none")


def test_the_text_asked_for_longest_ago_is_let_go():
    analyzer, counted = remembering(4)  # each of these takes two: a token, and itself
    for text in ("one", "two", "one", "three", "one", "two"):
        analyzer.analyze(text)

    assert counted.texts == ["one", "two", "three", "two"]


def test_a_text_larger_than_all_room_is_not_kept():
    analyzer, counted = remembering(3)
    for text in ("one", "one two three", "one two three", "one"):
        analyzer.analyze(text)

    assert counted.texts == ["one", "one two three", "one two three", "one"]


def test_texts_of_no_tokens_are_let_go_too():
    analyzer, counted = remembering(2)
    for text in (".", ",", "!", "."):
        analyzer.analyze(text)

    assert counted.texts == [".", ",", "!", "."]


def test_threads_that_ask_at_the_same_time_get_the_tokens_of_their_own_texts():
    texts = [f"신규 간호사의 회복탄력성 {n}과 이직 의도 resilience {n}" * 5 for n in range(100)] * 5
    alone = make_analyzer("bilingual")
    expected = {text: alone.analyze(text) for text in texts}
    shared = RememberingAnalyzer(make_analyzer("bilingual"), most=100)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(shared.analyze, texts)) == [expected[text] for text in texts]
    finally:
        sys.setswitchinterval(interval)
