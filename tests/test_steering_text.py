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
from hypothesis import example, given
from hypothesis import strategies as st

from base.logs import ROOT
from base.terminal.output import json_text, visible
from generator.answers.answer import quoted
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
def test_visible_text_is_one_line_that_steers_nothing_and_so_is_json_of_the_same_value(text):
    assert steers(visible(text)) == set()
    assert "\n" not in visible(text)
    assert steers(json_text([text])) == set()
    without_surrogates = text.encode("utf-8", "replace").decode()
    assert json.loads(json_text({without_surrogates: [text]})).keys() == {without_surrogates}


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"])))
@example("नमस्‍ते می‌خواهم 각 👩‍🔬 é")  # joiners and combining marks are part of words
def test_other_text_stays_as_it_is(text):
    assert visible(text) == text


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


COMMANDS = [
    ("indexes", "list"),
    ("indexes", "show", "x"),
    ("indexes", "show", "x", "--json"),
    ("indexes", "verify", "x"),
    ("indexes", "export", "x"),
    ("search", QUESTION, "--name", "x"),
    ("search", QUESTION, "--name", "x", "--json"),
    ("search", PASSAGE, "--name", "x", "--method", "or"),
    ("search", f'"{STEERING}', "--name", "x", "--method", "boolean"),
    ("search", "rice", "--name", STEERING.replace("\x00", "")),
    ("search", "rice", "--name", "x", "--synonyms", "no\x1bwhere"),
    ("ask", QUESTION, "--name", "x"),
    ("ask", QUESTION, "--name", "x", "--json"),
    ("ask", QUESTION, "--name", "x", "--way", STEERING),
    ("explain", QUESTION, "P\u202e\u200f1", "--name", "x"),
    ("explain", QUESTION, STEERING, "--name", "x"),
    ("citations", "P\u202e\u200f1", "--name", "x"),
    ("citations", STEERING, "--name", "x"),
    ("indexes", "remove", "x", STEERING),
    ("doctor", "--name", "x"),
    (STEERING,),
    ("search", f"--{STEERING}"),
    ("eval", "score", STEERING.replace("\x00", ""), "x"),
    ("bundle", "verify", "no\x1bwhere\u202e"),
    ("index", "no\x1bwhere\u202e\n", "--name", "y"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=range(len(COMMANDS)))
@pytest.mark.parametrize("debug", [[], ["--debug"], ["-vv"]], ids=["", "debug", "logs"])
def test_no_command_lets_it_through(hostile, arguments, debug):
    folder, _ = hostile

    done = shrag(*debug, *arguments, home=folder / "home")

    assert (steers(done.stdout), steers(done.stderr)) == (set(), set())


def test_neither_do_those_that_write(hostile):
    folder, indexed = hostile
    trace, asked = trace_of(folder)
    run, topics = folder / "ru\x1bn", folder / "topics\x1b"
    ranked = shrag("eval", "run", topics, "--name", "x", "--out", run, home=folder / "home")
    again = shrag("eval", "compare", topics, run, run, home=folder / "home")
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


ON_TERMINAL = {"ask": ("ask", QUESTION), "search": ("search", QUESTION), "doctor": ("doctor",)}


@pytest.mark.parametrize("name", mostly_slow(ON_TERMINAL, quick={"ask"}))
def test_on_a_terminal_the_only_sequences_are_the_program_s_own(hostile, name):
    folder, _ = hostile
    outer, inner = pty.openpty()
    environment = environment_of(folder / "home") | {"TERM": "xterm", "COLUMNS": "80"}
    shown, call = bytearray(), command(*ON_TERMINAL[name], "--name", "x")
    with subprocess.Popen(call, env=environment, stdout=inner, stderr=inner) as process:
        os.close(inner)
        with suppress(OSError):  # so the end of a terminal is told
            while block := os.read(outer, 65_536):
                shown += block
    os.close(outer)

    assert process.returncode in {0, 1}
    text = shown.decode()
    assert "\x1b[" in text
    assert steers(OWN.sub("", text)) == set()
