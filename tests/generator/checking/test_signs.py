"""False claims with the words of their passage, each with its sign, and true paraphrases (`claims.tsv`)."""

import json

import pytest

from generator.checking.numbers.labels import phrase_labels, sentence_labels
from generator.checking.sentence_check import Reason, check_sentence
from generator.checking.statements.substances import drugs
from generator.checking.text.clauses import read_text
from indexer.corpora.chunking import split_sentences
from tests.generator.sample_index import passage
from tests.indexer.made_corpora import ROOT

pytest_plugins = ["tests.generator.sample_index"]

PAPERS = {
    paper["id"]: paper
    for paper in map(json.loads, (ROOT / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines())
}
TABLE = (ROOT / "tests" / "generator" / "checking" / "claims.tsv").read_text(encoding="utf-8").splitlines()
CLAIMS = [line.split("\t") for line in TABLE if not line.startswith("#")]


def passage_of(text):
    """Return a passage with this text, or the abstract of the sample's paper of this name."""
    if paper := PAPERS.get(text):
        return passage(paper["id"], paper["abstract"], lang=paper["lang"], title=paper["title"])
    # The index remembers the tokens of a passage_id: each text has its own.
    return passage(text, text, lang="ko" if any("가" <= letter <= "힣" for letter in text) else "en")


@pytest.mark.parametrize(("sign", "claim", "text"), CLAIMS, ids=[claim for _, claim, _ in CLAIMS])
def test_a_claim_is_supported_or_has_its_sign(sample, sign, claim, text):
    found = check_sentence(claim, [passage_of(text)], sample)
    signs = {reason.sign for reason in found.reasons}
    assert (found.check, signs) == ("supported", set()) if sign == "supported" else sign in signs, found


def test_reasons_name_the_words_that_differ(sample):
    text = "Trout were fed 5 mg of spirulina in Oslo."
    found = check_sentence("Trout were fed 5 g of spirulina in Bergen.", [passage("trout", text)], sample)
    assert found.reasons == (Reason("unit", "5 g"), Reason("name", "Bergen"))


@pytest.mark.slow
def test_every_sentence_of_the_sample_is_supported_by_its_own_abstract(sample):
    wrong = []
    for name, paper in PAPERS.items():
        abstract = paper.get("abstract", "")
        for start, end in split_sentences(abstract):
            found = check_sentence(abstract[start:end], [passage_of(name)], sample)
            if found.check == "unsupported":
                wrong.append((abstract[start:end], found.reasons))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Trout ate 5 mg of krill.", {"trout", "at", "krill"}),
        ("송어는 크릴 5킬로그램을 먹었다.", {"송어", "크릴", "먹"}),
    ],
    ids=["English", "Korean"],
)
def test_a_label_excludes_the_unit(sample, text, words):
    read = read_text(text, sample.analyzer)
    (phrase,), (label,) = phrase_labels(read), sentence_labels(read)
    assert phrase.words == words
    assert label.words == words - {"먹"}  # after the number


def test_words_with_the_ending_of_a_drug_are_no_drugs():
    assert drugs("아프리카인과 조카인 왕은 리도카인, 코카인") == ["리도카인", "코카인"]
