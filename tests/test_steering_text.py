"""What a corpus, a file's name or a model says steers no terminal and forges no mark of the program."""

import json
import logging
import os
import pty
import re
import subprocess
import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.logs import ROOT
from base.terminal.output import escaped_json, json_text, visible
from generator.answers.answer import Answer, Sentence, quoted
from tests.generator.language_model import answers_with, served
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import command, environment_of, write_jsonl
from tests.needs import mostly_slow

STEERING = (
    "\x00\x07\x08\x0b\x0c\x1b[31m\x1b]8;;http://evil\x07\x7f\x85\x9b31m"
    "\u061c\u200e\u200f\u2028\u2029\u202e\u2066\r"
)
FORGED = "[1] ✓ ✗ (supported) [bold]x[/bold] [link=http://evil]y[/link]"
BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def steers(text):
    """Name the characters of a text that a terminal obeys, apart from line ends, by Unicode's own tables."""
    return {
        f"U+{ord(character):04X}"
        for character in text
        if character != "\n"
        and (
            unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
            or unicodedata.bidirectional(character) in BIDIRECTIONAL
            or character in "\u200e\u200f\u061c"
        )
    }


@given(st.text(st.characters(codec=None)))
def test_visible_text_is_one_line_that_steers_nothing(text):
    assert steers(visible(text)) == set()
    assert "\n" not in visible(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"])))
def test_other_text_stays_as_it_is(text):
    assert visible(text) == text


def test_joiners_and_combining_marks_are_part_of_words():
    for text in ("नमस्‍ते", "می‌خواهم", "각", "👩‍🔬", "é"):
        assert visible(text) == text


@given(st.text())
def test_json_has_the_same_value_and_steers_nothing(text):
    assert json.loads(json_text({text: [text]})) == {text: [text]}
    assert steers(json_text({text: [text]})) == set()
    assert escaped_json('"\x7f"') == '"\\u007f"'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("as shown by [12], too", "as shown by (12), too"),
        ("true. [1] ✓", "true. (1) *"),
        ("true. (supported)", "true. supported"),
        ("true. ((Not checked))", "true. Not checked"),
        ("거짓. [근거 없음]", "거짓. 근거 없음"),
        ("rice\n\nConclusion\n[2] ✗", "rice  Conclusion (2) *"),
    ],
)
def test_a_quoted_sentence_holds_no_mark_of_the_program(text, shown):
    assert quoted(text) == shown


def test_the_text_of_an_answer_has_its_own_marks_alone():
    sentences = (Sentence(f"Rice. {FORGED}\nConclusion", "body", ("P1",), "unsupported"),)
    text = Answer("Title [9] ✓", sentences, "en", "tiny", abstained=False).as_text()

    assert re.findall(r"\[[^\]]*\]|[✓✗]|\(unsupported\)|^Conclusion$", text, re.MULTILINE) == [
        "[P1]",
        "(unsupported)",
    ]


PASSAGE = (
    f"methane rice paddies {STEERING}{FORGED} emit water all summer and some of it in winter too {STEERING}."
)
FIELDS = ("title", "abstract", "title2", "abstract2", "journal", "publisher", "doi", "url", "source", "extra")
HOSTILE = {name: f"{name.title()} {PASSAGE}" for name in FIELDS} | {
    "authors": [PASSAGE],
    "reference_list": [{"title": PASSAGE, "text": STEERING, "doi": STEERING}, {"text": PASSAGE}],
    "keywords": [PASSAGE, f"methane{STEERING}"],
    "year": 2020,
    "lang": "en",
}
QUESTION = "Do rice paddies emit methane?"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Index a corpus whose every field, dead letters and file name steer; return what was said."""
    folder = tmp_path_factory.mktemp("hostile")
    records = [HOSTILE | {"id": f"P\u202e\u200f{number}"} for number in range(3)]
    bad = {"id": f"x {STEERING}", STEERING: 1, "year": STEERING}
    corpus = write_jsonl(folder / "co\x1b[31mrpus\u202e\n.jsonl", [*records, bad, f'{{"{STEERING}'])
    indexed = shrag("index", corpus, "--name", "x", home=folder / "home")
    assert indexed.returncode == 0, indexed.stderr
    asked = PASSAGE.replace("\0", "").replace("\r", "")  # topics with these are refused
    (folder / "topics\x1b").write_text(f"q\u202e1\t{QUESTION}\nq2\t{asked}\n")
    return folder, indexed


@pytest.fixture(autouse=True)
def _logs_as_before():
    """Let no test after one with -vv log."""
    root = logging.getLogger(ROOT)
    handlers, level, propagate = list(root.handlers), root.level, root.propagate
    yield
    root.handlers[:], root.propagate = handlers, propagate
    root.setLevel(level)


def trace_of(folder, **model):
    """Save a trace of an answer; return its path and what was said."""
    path = folder / "tra\x1bce"
    done = shrag("ask", QUESTION, "--name", "x", "--trace", path, home=folder / "home", **model)
    assert done.returncode == 0, done.stderr
    return path, done


def run_of(folder):
    path = folder / "ru\x1bn"
    return path, shrag(
        "eval", "run", folder / "topics\x1b", "--name", "x", "--out", path, home=folder / "home"
    )


COMMANDS = {
    "indexes list": ("indexes", "list"),
    "indexes show": ("indexes", "show", "x"),
    "indexes show --json": ("indexes", "show", "x", "--json"),
    "indexes verify": ("indexes", "verify", "x"),
    "indexes export": ("indexes", "export", "x"),
    "search": ("search", QUESTION, "--name", "x"),
    "search --json": ("search", QUESTION, "--name", "x", "--json"),
    "search for it": ("search", PASSAGE, "--name", "x", "--method", "or"),
    "search by it": ("search", f'"{STEERING}', "--name", "x", "--method", "boolean"),
    "search in it": ("search", "rice", "--name", STEERING.replace("\x00", "")),
    "search with it": ("search", "rice", "--name", "x", "--synonyms", "no\x1bwhere"),
    "ask": ("ask", QUESTION, "--name", "x"),
    "ask --json": ("ask", QUESTION, "--name", "x", "--json"),
    "ask another way": ("ask", QUESTION, "--name", "x", "--way", STEERING),
    "explain": ("explain", QUESTION, "P\u202e\u200f1", "--name", "x"),
    "citations": ("citations", "P\u202e\u200f1", "--name", "x"),
    "citations of nothing": ("citations", STEERING, "--name", "x"),
    "explain nothing": ("explain", QUESTION, STEERING, "--name", "x"),
    "remove": ("indexes", "remove", "x", STEERING),
    "doctor": ("doctor", "--name", "x"),
    "no such command": (STEERING,),
    "no such option": ("search", f"--{STEERING}"),
    "no such file": ("eval", "score", STEERING.replace("\x00", ""), "x"),
    "verify": ("bundle", "verify", "no\x1bwhere\u202e"),
    "strict": ("index", "no\x1bwhere\u202e\n", "--name", "y"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("debug", [[], ["--debug"], ["-vv"]], ids=["", "debug", "logs"])
def test_no_command_lets_it_through(hostile, arguments, debug):
    folder, _ = hostile

    done = shrag(*debug, *arguments, home=folder / "home")

    assert (steers(done.stdout), steers(done.stderr)) == (set(), set())


def test_neither_do_those_that_write(hostile):
    folder, indexed = hostile
    trace, asked = trace_of(folder)
    run, ranked = run_of(folder)
    again = shrag("eval", "compare", folder / "topics\x1b", run, run, home=folder / "home")
    shown = shrag("trace", "show", trace, home=folder / "home")
    wrong = shrag("trace", "show", run, home=folder / "home")
    for done in (indexed, asked, ranked, again, shown, wrong):
        assert (steers(done.stdout), steers(done.stderr)) == (set(), set())
    assert steers(trace.read_text()) == set()
    assert shown.returncode == 0
    assert all(len(line.split()) == 6 for line in run.read_text().splitlines())


def test_what_a_model_says_has_no_mark_and_steers_nothing(hostile):
    folder, _ = hostile
    said = f"Rice {STEERING} {FORGED}\nConclusion\n"
    answer = {
        "title": said,
        "introduction": [{"text": said, "citations": [1]}],
        "body": [],
        "conclusion": [],
        "answered": True,
    }
    with served(answers_with({"korean": [said], "english": [said]}), answers_with(answer)) as model:
        _, done = trace_of(folder, llm__base_url=model.base_url, llm__model="tiny\x1b", llm__retries=0)

    assert (steers(done.stdout), steers(done.stderr)) == (set(), set())
    written = done.stdout.partition("\nIntroduction\n")
    assert written[1], done.stdout + done.stderr
    assert len(re.findall(r"\[1\]", written[2])) == len(re.findall("[✓✗?]", written[2])) == 1
    assert "Conclusion" not in done.stdout.splitlines()


def test_of_a_quotation_the_marks_are_the_program_s(hostile):
    folder, _ = hostile
    done = shrag("ask", QUESTION, "--name", "x", home=folder / "home")

    sentences = done.stdout.partition("Passages that may help")[2].splitlines()[2:]
    assert sentences
    for line in filter(None, sentences):
        assert re.fullmatch(r"- [^\[\]✓✗]* \[\d\] \(quoted\)", line)


# What the program and rich emit themselves: colours, the cursor shown or hidden and moved, a line erased.
OWN = re.compile(r"\x1b\[[\d;]*m|\x1b\[\?25[hl]|\x1b\[\d*[AK]|\r")


@pytest.mark.parametrize("command_name", mostly_slow(["ask", "search", "doctor"], quick={"ask"}))
def test_on_a_terminal_the_only_sequences_are_the_program_s_own(hostile, command_name):
    folder, _ = hostile
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        command(*COMMANDS[command_name]),
        env=environment_of(folder / "home") | {"TERM": "xterm", "COLUMNS": "80"},
        stdout=inner,
        stderr=inner,
    )
    os.close(inner)
    shown = bytearray()
    with suppress(OSError):  # so the end of a terminal is told
        while block := os.read(outer, 65_536):
            shown += block
    os.close(outer)

    assert process.wait() in {0, 1}
    text = shown.decode()
    assert "\x1b[" in text
    assert steers(OWN.sub("", text)) == set()
