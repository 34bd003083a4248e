"""Abbreviations and their long forms: in brackets, chosen for a corpus, found in a question."""

import pytest

from indexer.analysis import make_analyzer
from indexer.files.schema import StoredPassage
from indexer.glossary.forms import FormMiner, Forms
from indexer.glossary.mining import texts_of
from indexer.glossary.patterns.abbreviations import Abbreviation, Expanded, expanded_abbreviations
from indexer.glossary.patterns.brackets import passage_mentions
from indexer.glossary.storage import FormMatch, Glossary, write_glossary
from indexer.glossary.vocabulary import WordCounts

BILINGUAL = make_analyzer("bilingual")


def mined(*texts):
    """Return the forms of papers of these texts."""
    words = WordCounts()
    miner = FormMiner(BILINGUAL, words)
    for number, text in enumerate(texts):
        passage = StoredPassage(f"P{number}", f"P{number}", "", text, "en", "abstract")
        miner.add(passage, passage_mentions(texts_of(passage), BILINGUAL))
        words.add(text)
    return miner.forms()


def long_forms(*texts):
    return [(form.short, form.long, form.count) for form in mined(*texts).abbreviations]


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
        "D</b>eoxyribo<b>n</b>ucleic acid (DNA)",
        "TNT (treatment) was",
    ],
)
def test_a_bracket_without_a_long_form(text):
    assert list(expanded_abbreviations(text)) == []


def test_letters_that_are_no_initials_need_a_second_paper():
    assert long_forms("a slow treatment (TNT) of") == []
    assert long_forms("the drug pyrazinamide (PZA)") == []
    assert long_forms("the drug pyrazinamide (PZA)", "of pyrazinamide (PZA)") == [("PZA", "pyrazinamide", 2)]


def test_an_ordinary_word_is_no_long_form_of_two_papers():
    others = [f"The treatment of sample {number}." for number in range(40)]
    assert long_forms("a treatment (TNT) of", "the treatment (TNT) is", *others) == []


def test_long_forms_of_the_same_tokens_are_one_and_the_rare_are_left_out():
    papers = ["large language models (LLMs) are", "A large language model (LLM) is"] * 2
    assert long_forms(*papers, "a lattice learning machine (LLM) is") == [("LLM", "large language model", 4)]


def test_an_abbreviation_of_several_long_forms_has_those_that_are_not_rare():
    kinetics, drops = "the dissociation constant (KD) of", "knowledge distillation (KD) is"
    assert long_forms(drops, drops, drops, "a knock down (KD) of", kinetics) == [
        ("KD", "knowledge distillation", 3),
        ("KD", "knock down", 1),
    ]


def test_an_abbreviation_that_is_a_word_too_is_marked():
    ordinary = {
        form.short: form.ordinary
        for form in mined(
            "A controller area network (CAN) can fail. So can a graph neural network (GNN)."
        ).abbreviations
    }
    assert ordinary == {"CAN": True, "GNN": False}


DISTILLATION = Abbreviation("KD", "knowledge distillation", ("kd",), ("knowledg", "distil"), 3)
KNOCKDOWN = Abbreviation("KD", "knockdown", ("kd",), ("knockdown",), 2)
MODEL = Abbreviation("LM", "language model", ("lm",), ("languag", "model"), 5, ordinary=True)
LARGE_MODEL = Abbreviation("LLM", "large language model", ("llm",), ("larg", "languag", "model"), 9)


@pytest.fixture
def glossary(tmp_path):
    write_glossary(tmp_path / "file", [], Forms((DISTILLATION, KNOCKDOWN, LARGE_MODEL, MODEL)))
    with Glossary.open(tmp_path / "file") as opened:
        yield opened


def test_an_abbreviation_is_found_by_either_side(glossary):
    assert glossary.abbreviations(["지식", "knowledg", "distil"]) == [FormMatch(DISTILLATION, 1, 3)]
    assert glossary.abbreviations(["kd", "효과"]) == [
        FormMatch(DISTILLATION, 0, 1),
        FormMatch(KNOCKDOWN, 0, 1),
    ]


def test_a_long_form_within_a_longer_is_left_out(glossary):
    assert glossary.abbreviations(["larg", "languag", "model"]) == [FormMatch(LARGE_MODEL, 0, 3)]
    assert glossary.abbreviations(["languag", "model", "llm"]) == [
        FormMatch(MODEL, 0, 2),
        FormMatch(LARGE_MODEL, 2, 3),
    ]


def test_an_abbreviation_is_not_found_in_a_part_of_a_term(glossary):
    assert glossary.abbreviations(["kd", "2"], units=[(0, 1)]) == []
    assert glossary.abbreviations(["kd", "2"]) == [FormMatch(DISTILLATION, 0, 1), FormMatch(KNOCKDOWN, 0, 1)]


def test_nothing_is_found_in_no_tokens(glossary):
    assert glossary.abbreviations([]) == []
