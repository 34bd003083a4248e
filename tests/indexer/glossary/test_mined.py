"""Pairs mined from keyword lists, and abbreviations of a corpus."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.files.schema import StoredPassage
from indexer.glossary.abbreviations import (
    Abbreviation,
    choose_long_forms,
    expanded_abbreviations,
)
from indexer.glossary.mined import Evidence, find_mentions
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import FormMatch, Glossary, write_glossary

ANALYZERS = {name: make_analyzer(name) for name in ("bilingual", "korean", "english")}
BILINGUAL = ANALYZERS["bilingual"]


def passage(text="", title="", doc_id="P1", **paper):
    record = json.dumps({"id": doc_id, **paper})
    title2 = paper.get("title2", "")
    return StoredPassage(doc_id, doc_id, title, text, "ko", "abstract", title2=title2, record=record)


def evidence(*passages, analyzer=BILINGUAL):
    found = Evidence()
    for each in passages:
        found.add(each, find_mentions(each, analyzer))
    return found


def pairs(*passages, analyzer=BILINGUAL):
    return evidence(*passages, analyzer=analyzer).choose_pairs(analyzer)


def mined(*passages, analyzer=BILINGUAL):
    return {(pair.korean, pair.english) for pair in pairs(*passages, analyzer=analyzer)}


@pytest.mark.parametrize("order", ["large language model, LLM", "LLM: large language model"])
def test_an_abbreviation_and_its_full_form_are_two_pairs(order):
    assert mined(passage(f"대규모 언어 모델({order})을 쓴다.")) == {
        ("대규모 언어 모델", "large language model"),
        ("대규모 언어 모델", "LLM"),
    }


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("통신", "vehicle to vehicle"),  # fewer parts than the English
        ("식물", "Tamarind"),  # a name that is not transcribed
        ("투자은행", "IB"),  # an abbreviation of two letters
    ],
)
def test_a_doubtful_pair_needs_three_passages(korean, english):
    texts = [f"{word} {korean}({english})에서는" for word in ("가까운", "느린", "먼")]
    papers = [passage(text, doc_id=text[0]) for text in texts]
    assert mined(*papers[:2]) == set()
    assert mined(*papers) == {(korean, english)}


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        (["말뭉치", "corpus", "형태소", "morpheme"], True),
        (["corpus", "말뭉치", "morpheme", "형태소"], True),
        (["말뭉치", "형태소", "corpus", "morpheme"], True),
        (["corpus", "morpheme", "말뭉치", "형태소"], True),
        (["말뭉치", "형태소", "corpus"], False),
        (["말뭉치", "corpus", "morpheme", "형태소", "음절", "syllable"], False),
        (["말뭉치", "2020"], False),
        (["corpus", "morpheme"], False),
        ([], False),
        ("말뭉치, corpus", False),
        (None, False),
        ([1, {"말뭉치": "corpus"}], False),
        (["거꾸로 학습", "flipped learning"], False),  # the analysis drops 거꾸로
    ],
)
def test_keyword_lists_in_both_languages_are_paired_in_order(keywords, found):
    expected = {("말뭉치", "corpus"), ("형태소", "morpheme")} if found else set()
    assert mined(passage(keywords=keywords)) == expected


def test_variants_merge_by_tokens_and_show_the_most_frequent_form():
    written = ["지식 그래프(Knowledge Graph)", "지식그래프(knowledge graph)", "지식그래프(knowledge graph)"]
    papers = [passage(f"이 {text}를", doc_id=f"P{number}") for number, text in enumerate(written)]
    assert pairs(*papers) == [
        Pair("지식그래프", "knowledge graph", ("지식", "그래프"), ("knowledg", "graph"), 3, ("bracket",))
    ]


PIECES = st.sampled_from(
    [
        *"( ) （ 『 』 \" ' , : - + LLM graph the of A. 1990 지식 그래프를 의 한 漢字 é \u0301 😀".split(),
        *(" ", "  ", "\n", "\x00", "\x1f", "\ud7ff"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)),
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=6),
    st.sampled_from(["bilingual", "korean", "english"]),
)
def test_any_text_can_be_mined(text, title, keywords, name):
    papers = [
        passage(text, title=title, title2=text, keywords=keywords, doc_id="P1"),
        passage(title, title=text, title2=title, keywords=keywords, doc_id="P2"),
    ]
    for pair in pairs(*papers, analyzer=ANALYZERS[name]):
        assert pair.has_tokens
        assert 1 <= pair.count <= 2


def long_forms(*texts, words=()):
    counts = Counter(found for text in texts for found in expanded_abbreviations(text))
    return choose_long_forms(counts, BILINGUAL, Counter(words))


def test_long_forms_with_the_same_tokens_are_one_and_rare_ones_are_left_out():
    papers = ["large language models (LLMs) are", "A large language model (LLM) is"] * 2
    found = long_forms(*papers, "a lattice learning machine (LLM) is")
    assert [(form.short, form.long, form.count) for form in found] == [("LLM", "large language model", 4)]


def test_an_abbreviation_that_is_a_word_too_is_marked():
    text = "A controller area network (CAN) and a graph neural network (GNN)."
    assert {form.short: form.ordinary for form in long_forms(text, words=["can"])} == {
        "CAN": True,
        "GNN": False,
    }


KD = Abbreviation("KD", "knowledge distillation", ("kd",), ("knowledg", "distil"), 3)
KNOCKDOWN = Abbreviation("KD", "knockdown", ("kd",), ("knockdown",), 2)
LLM = Abbreviation("LLM", "large language model", ("llm",), ("larg", "languag", "model"), 9)
LM = Abbreviation("LM", "language model", ("lm",), ("languag", "model"), 5, ordinary=True)


@pytest.mark.parametrize(
    ("tokens", "units", "found"),
    [
        ("지식 knowledg distil", [], [FormMatch(KD, 1, 3)]),
        ("kd 효과", [], [FormMatch(KD, 0, 1), FormMatch(KNOCKDOWN, 0, 1)]),
        ("larg languag model", [], [FormMatch(LLM, 0, 3)]),
        ("languag model llm", [], [FormMatch(LM, 0, 2), FormMatch(LLM, 2, 3)]),
        ("kd 2", [(0, 1)], []),  # a part of one term
        ("", [], []),
    ],
)
def test_an_abbreviation_is_found_by_either_side_the_longest_first(tmp_path, tokens, units, found):
    write_glossary(tmp_path / "file", [], [KD, KNOCKDOWN, LLM, LM])
    with Glossary(tmp_path / "file") as glossary:
        assert list(glossary.all_abbreviations()) == [KD, KNOCKDOWN, LLM, LM]
        assert glossary.abbreviations(tokens.split(), units) == found
