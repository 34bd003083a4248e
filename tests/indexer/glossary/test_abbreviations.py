"""Abbreviations and their long forms: in brackets, chosen for a corpus, found in a question."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.glossary.abbreviations import (
    Abbreviation,
    Expanded,
    choose_long_forms,
    expanded_abbreviations,
    long_form,
)
from indexer.glossary.storage import FormMatch, Glossary, write_glossary

BILINGUAL = make_analyzer("bilingual")


def long_forms(*texts, words=()):
    counts = Counter(found for text in texts for found in expanded_abbreviations(text))
    return choose_long_forms(counts, BILINGUAL, Counter(words))


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use knowledge distillation (KD).", "KD", "knowledge distillation"),
        ("KD (knowledge distillation) helps.", "KD", "knowledge distillation"),
        ("지식 증류(knowledge distillation, KD)를 쓴다.", "KD", "knowledge distillation"),
        ("지식 증류(KD, knowledge distillation)를 쓴다.", "KD", "knowledge distillation"),
        ("대규모 언어 모델(LLM: large language model)은", "LLM", "large language model"),
        ("한편 large language models (LLMs)는", "LLM", "large language models"),
        ("small interfering RNAs (siRNAs) were", "siRNA", "small interfering RNAs"),
        ("a limit of detection (LOD) of", "LOD", "limit of detection"),
        ("the T-cell receptor (TCR; see above)", "TCR", "T-cell receptor"),
        ("전각 괄호 graph neural network（GNN）", "GNN", "graph neural network"),
        ("learners of English as a foreign language (EFL)", "EFL", "English as a foreign language"),
        (
            "a convolutional long short-term memory (ConvLSTM)",
            "ConvLSTM",
            "convolutional long short-term memory",
        ),
        ("patients with multiple myeloma (MM)", "MM", "multiple myeloma"),
    ],
)
def test_a_bracket_beside_a_long_form(text, short, long):
    assert list(expanded_abbreviations(text)) == [Expanded(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "the sample (n = 30) was small",
        "as shown before (Kim et al., 2019)",
        "a fast scheme (FOO) was",
        "지식 증류(KD)를 쓴다.",
        "a cell (CE) was",
        "It ends here. (KD)",
        "DNA (DNA)",
        "a knowledge (Kd) of",
        "Italian imports (II) of",
        "TNT (treatment) was",
        "a slow treatment (TNT) of",
    ],
)
def test_a_bracket_without_a_long_form(text):
    assert list(expanded_abbreviations(text)) == []


@given(st.text("ABCabc1-", min_size=2, max_size=10), st.text(max_size=60))
def test_a_long_form_ends_its_text(short, text):
    long = long_form(short, text)
    assert long is None or " ".join(text.split()).endswith(long)


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


def test_repeated_function_words_take_no_exponential_time():
    assert long_form("AAAAAAAAAA", "ab" + " a" * 60 + " zz", whole=True) is None
    assert long_form("AAAAAAAAAA", "ab" + "-a" * 36 + "-zz", whole=True) is None
