"""An answer of the largest size from hostile passages is checked within a time that its size bounds."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from generator.answers.model_answer import WrittenAnswer, checked_answer, sentence_check
from generator.checking.sentence_check import LONGEST_PASSAGE, check_sentence
from generator.checking.statements.substances import substances
from generator.checking.text.quantities import quantities
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.generator.sample_index import NAME, passage
from tests.indexer.made_corpora import ROOT, environment_of
from tests.needs import mostly_nightly, mostly_slow

pytest_plugins = ["tests.generator.sample_index"]

SENTENCE, PASSAGE = 1_000, 4_000  # characters: the most of a model's sentence, and of a passage
PASSAGES = 5
SENTENCES = {"introduction": 3, "body": 10, "conclusion": 3}
LITTLE = 5  # seconds of one processor: several times what LONG takes
MUCH = 20  # seconds of one processor: several times what the largest takes, a part of what it took unbounded


def filled(words, length):
    return (words * (length // len(words) + 1))[:length]


def numbers(first, length):
    return filled("".join(f"{number} mg " for number in range(first, first + 300)), length)


# A sentence, and a passage that it cites.
TEXTS = {
    "initials": ("F" * 40 + filled(" FFFFFFFFFF", SENTENCE - 40), filled("for " * 37 + "none. ", PASSAGE)),
    "numbers": (numbers(2, SENTENCE), numbers(2, PASSAGE)),
    "equal numbers": (
        filled("loss 5 mg at 7 ms, gain 6 mg at 8 ms, ", 540),
        filled("gain 5 mg at 8 ms and loss 9 mg at 7 ms ", 600),
    ),
    "directions": (filled("loss higher gain higher. ", SENTENCE), filled("loss lower gain lower. ", PASSAGE)),
    "denials": (filled("ab not cd, ", SENTENCE), filled("ab cd ef, ", PASSAGE)),
    "digits": ("4" * SENTENCE, "3" * PASSAGE),
    "changes": (filled("from 10 to 20 ", SENTENCE), filled("from 20 to 10 ", PASSAGE)),
    "Korean changes": (filled("1에서 2로 ", SENTENCE), filled("2에서 1로 ", PASSAGE)),
    "comparisons": (
        filled("oak is higher than elm, ", SENTENCE),
        filled("elm is higher than oak, ", PASSAGE),
    ),
    "Korean comparisons": (
        filled("참나무는 느릅나무보다 높고 ", SENTENCE),
        filled("느릅나무는 참나무보다 높고 ", PASSAGE),
    ),
    "roles": (filled("oak blocks elm, ", SENTENCE), filled("elm blocks oak, ", PASSAGE)),
    "universals": (filled("all elms always grow, ", SENTENCE), filled("elms grow, ", PASSAGE)),
    "multiples": (filled("elms doubled, half grew, ", SENTENCE), filled("3 elms, 7 oaks, ", PASSAGE)),
    "scripts": (filled("⑨⁹９구십구 퍼센트 ", SENTENCE), filled("⑧⁸８팔십팔 퍼센트 ", PASSAGE)),
    "substances": (filled("elmazole 느릅나졸 ", SENTENCE), filled("oakazole 참나졸 ", PASSAGE)),
    "names": (
        filled("x Abcdef Bcdefg 스크트프 카타파크 ", SENTENCE),
        filled("zAbc Qabcd Zbcde 트크 ", PASSAGE),
    ),
}


def check_answer(home, text):
    """Check an answer of such sentences, each citing all passages; return how many were checked."""
    sentence, source = TEXTS[text]
    evidence = [passage(f"P{number}", f"{source[:-1]}{number}") for number in range(PASSAGES)]
    parts = {
        part: [
            {"text": f"{sentence[:-12]}{part[:9]} {place}", "citations": [*range(1, PASSAGES + 1)]}
            for place in range(count)
        ]
        for part, count in SENTENCES.items()
    }
    written = WrittenAnswer.model_validate({"title": "Hostile", "answered": True, **parts})
    with open_index(IndexerSettings(home=home), NAME) as index:
        check = sentence_check(evidence, index, ())
        return len(checked_answer(written, "model", "en", check).sentences)


@pytest.mark.slow
@pytest.mark.parametrize("text", mostly_nightly(TEXTS, by_day={"Korean changes"}))
def test_an_answer_of_hostile_texts_is_checked(sample_home, text):
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(sample_home), text],
        cwd=ROOT,
        env=environment_of(sample_home),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == sum(SENTENCES.values())


# Sentence and passage that took 7 to 37 seconds where each number or clause was compared with the whole text.
LONG = {
    "halves": ("half ", "3 elms, 7 oaks. "),
    "doubled": ("elms doubled. ", "3 elms, 7 oaks and 8 % grow. "),
    "Korean halves": ("절반 ", "참나무 3그루와 7그루의 나무가 자랐다. "),
    "Korean actions": ("개가 고양이를 보며, ", "고양이가 개를 보며, "),
    "bounds": ("at least 3 elms or 4 oaks or more ", "at least 2 elms and 5 oaks or more "),
    "changes by and to": ("loss fell by 3% and 41 g ", "loss fell from 9% to 3% "),
    "shares in words": ("one elm in ten of 41 g ", "one-in-ten-one elm in nine "),
    "hardly": ("loss hardly fell by 41 g ", "loss fell 30% "),
    "authors": ("elms select oaks of 41 g ", "we select oaks "),
    "Korean changes by a number": ("손실이 5 g 늘었고 ", "손실이 6 g 줄었고 "),
}


@pytest.mark.parametrize("text", mostly_nightly(LONG, by_day={"halves", "Korean halves"}))
def test_a_sentence_is_checked_against_the_longest_passages(sample, text):
    sentence, source = LONG[text]
    passages = [
        passage(f"{text} {number}", filled(source, LONGEST_PASSAGE)[:-1] + str(number))
        for number in range(PASSAGES)
    ]
    began = time.process_time()

    assert check_sentence(filled(sentence, SENTENCE), passages, sample).check in {
        "not checkable",
        "unsupported",
    }

    assert time.process_time() - began < LITTLE


# A sentence that is checked alone is of any length.
@pytest.mark.parametrize(
    "words",
    mostly_slow(
        ["⑨", "구십구 ", "점일", "half a ", "all ", "as a as ", "보다 높고 ", "elmazole "],
        quick={"구십구 ", "elmazole "},
    ),
)
def test_a_sentence_of_a_megabyte_is_checked(sample, words):
    text = filled(words, 1_000_000)
    began = time.process_time()

    assert check_sentence(text, [passage(words, text)], sample).check in {"not checkable", "unsupported"}
    assert quantities(text[:100_000]) is not None
    assert substances(text) is not None

    assert time.process_time() - began < MUCH


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (MUCH, MUCH))
    sys.stdout.write(json.dumps(check_answer(Path(sys.argv[1]), sys.argv[2])))
