"""`shrag ask` and `shrag trace`; the language model is a local server."""

import json
import os
import re
import signal
import subprocess
import sys

import docx
import pytest

from tests.generator.language_model import PATIENCE_S, answers_with, piece, served, streams_out
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, SEARCH_KEYS, shrag
from tests.indexer.made_corpora import ROOT, environment_of
from tests.interrupts import interrupts_heeded

KEYWORDS = {"ko": ["간호사 회복탄력성", "이직 의도"], "en": ["resilience", "turnover"]}
ANSWER = {
    "title": "회복탄력성과 이직",
    "introduction": [{"text": "신규 간호사의 회복탄력성과 이직 의도를 살핀 연구가 있다.", "citations": [1]}],
    "body": [{"text": "회복탄력성이 높으면 이직 의도가 98765% 줄었다.", "citations": [1]}],
    "conclusion": [{"text": "그 밖의 연구도 있다.", "citations": []}],
    "answered": True,
}


def ask(sample_home, question, *options, model=None, **settings):
    """Run `shrag ask`, with the model at that address."""
    given = {"llm__base_url": model, "llm__model": "tiny-writer", "llm__retries": 0}
    given = given | {"llm__strategy_calls": "one"} if model else {}
    return shrag("ask", question, "--name", NAME, *options, home=sample_home, **given, **settings)


def test_json_has_the_contract_s_keys_beside_those_of_search(sample_home):
    done = ask(sample_home, KOREAN, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    searched = json.loads(shrag("search", KOREAN, "--name", NAME, "--json", home=sample_home).stdout)
    assert record.keys() == searched.keys() | {"answer", "evidence"}
    assert searched.keys() == set(SEARCH_KEYS)
    answer = record["answer"]
    keys = "title introduction body conclusion language written_by abstained sentences"
    assert answer.keys() == {*keys.split()}
    assert answer["sentences"]
    for sentence in answer["sentences"]:
        assert sentence.keys() == {"text", "section", "citations", "check", "hints"}
    assert (answer["language"], answer["written_by"], answer["abstained"]) == ("ko", "extractive", False)
    assert record["evidence"] == record["hits"][: len(record["evidence"])] != []


def test_the_configured_model_answers_and_doubtful_sentences_are_marked(sample_home):
    verdicts = [(1, "supported", ""), (2, "supported", ""), (3, "unsupported", "no such number")]
    judged = {"judgements": [{"sentence": n, "verdict": verdict, "why": why} for n, verdict, why in verdicts]}
    with served(answers_with(KEYWORDS), answers_with(ANSWER), answers_with(judged)) as model:
        done = ask(sample_home, KOREAN, model=model.base_url, check__judge="model")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "회복탄력성과 이직 ✓" in lines
    assert "신규 간호사의 회복탄력성과 이직 의도를 살핀 연구가 있다. [1] ✓" in lines
    place = lines.index("회복탄력성이 높으면 이직 의도가 98765% 줄었다. [1] ✗")
    assert lines[place + 1] == "  number not found: 98765%; no such number"
    assert "그 밖의 연구도 있다. ✗" in lines
    assert "written by tiny-writer-7b" in done.stderr
    assert "✓ supported  ✗ unsupported  ? not checked" in done.stderr
    assert "checked by tiny-writer-7b" in done.stderr
    assert [body["model"] for body in model.bodies] == ["tiny-writer"] * 3


def test_ctrl_c_closes_the_connection_and_exits_with_130(sample_home):
    with served(streams_out(*[piece("{")] * 100_000, pause_s=0.01)) as model:
        given = {"llm__base_url": model.base_url, "llm__model": "tiny-writer"}
        command = [sys.executable, str(ROOT / "shrag.py"), "ask", KOREAN, "--name", NAME]
        with interrupts_heeded():
            process = subprocess.Popen(
                command,
                env=os.environ | environment_of(sample_home, **given),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert model.begun.wait(PATIENCE_S)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert model.closed.wait(PATIENCE_S)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.parametrize("variable", ["cache__file", "synonyms"])
def test_a_trace_is_not_written_over_what_the_settings_name(sample_home, tmp_path, variable):
    kept = tmp_path / "kept"
    kept.write_text("rice, paddy\n")
    question = ("ask", ENGLISH, "--name", NAME, "--trace", kept)

    done = shrag(*question, home=sample_home, **{variable: kept})

    assert (done.returncode, done.stdout) == (2, "")
    assert f"{kept} would overwrite the input" in done.stderr
    assert kept.read_text() == "rice, paddy\n"


def test_an_answer_is_written_with_citations_and_references(sample_home, tmp_path):
    file, word = tmp_path / "answer.txt", tmp_path / "answer.docx"
    done = ask(sample_home, KOREAN, "--cite", "korean", "--out", file)
    assert (done.returncode, done.stdout) == (0, "")
    title, question, quotes, heading, references, _ = file.read_text("utf-8").split("\n\n")
    assert (title, question, heading) == ("도움이 될 만한 구절", KOREAN, "참고 문헌")
    assert all(re.fullmatch(r"- “.+” \(.+, \d{4}\)", quote) for quote in quotes.splitlines())

    assert ask(sample_home, KOREAN, "--cite", "korean", "--out", word).returncode == 0
    texts = [paragraph.text for paragraph in docx.Document(str(word)).paragraphs]
    assert texts[1] == KOREAN
    assert texts[-2] == references.splitlines()[-1]
