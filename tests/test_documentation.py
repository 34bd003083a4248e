"""What the documentation names exists: commands, options, settings, files; its first examples run."""

import re
import shlex
import shutil
from itertools import takewhile

import click
import pytest

from base.settings.sources import all_settings
from shrag import cli
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import ROOT

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
INLINE = re.compile(r"`([^`]+)`")
CONTINUED = re.compile(r"\\\n\s*")
IN_CONTAINER = re.compile(r"docker compose (?:run|exec)\b.*? server (?:shrag )?")
# In the place of a command: at the beginning of a line, or behind a prompt, another command, variables.
CALL = re.compile(r"(?:^|\$ |[;&|(] ?)\s*(?:sudo -u \w+ )?(?:\w+=\S+ )*(?:\S*/)?shrag (?P<rest>[^`#\n]+)")
ENDS = {"|", ">", ">>", "<", "&&", ";", "||", "…", "--"}
SETTINGS = {each.variable for each in all_settings().values()}
# The file of settings, a key in examples, and what the tests alone read.
OTHER_VARIABLES = {"SHRAG_CONFIG", "SHRAG_KEY", "SHRAG_REQUIRE_SERVICES"}

# Of pytest, the hub's client and vLLM.
OF_OTHER_PROGRAMS = {"--ignore", "--revision", "--reasoning-parser"}


def code_of(page):
    """Return the lines of a page's blocks of code, and its inline code."""
    text = CONTINUED.sub(" ", PAGES[page])
    rest = FENCED.sub("", text)
    blocks = [line for block in FENCED.findall(text) for line in block.splitlines()]
    inline = [" ".join(code.split()) for code in INLINE.findall(INDENTED.sub("", rest))]
    return [*blocks, *(line[4:] for line in INDENTED.findall(rest)), *inline]


def calls(page):
    """Return the words of each call of `shrag`, up to a pipe or another sign of the shell."""
    for line in code_of(page):
        for found in CALL.finditer(IN_CONTAINER.sub("shrag ", line)):
            try:
                words = shlex.split(found["rest"], comments=True)
            except ValueError:  # a quotation that goes on in the next line
                words = found["rest"].split()
            yield [word.rstrip(",;") for word in takewhile(lambda word: word not in ENDS, words)]


def options_of(command):
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}


def unknown_words(words):
    """Return the commands and options of a call that do not exist."""
    command: click.Command = cli
    allowed, unknown = options_of(cli), []
    for word in words:
        if word.startswith("-"):
            unknown += [word] if word.partition("=")[0] not in allowed else []
        elif isinstance(command, click.Group):
            found = command.commands.get(word) or command.commands.get("make")  # of `shrag bundle OUT`
            if found:
                command, allowed = found, allowed | options_of(found)
            elif not word.isupper():  # COMMAND stands for any
                return [*unknown, word]
    return unknown


def all_options(group):
    """Yield the options of all commands below a group."""
    yield from options_of(group)
    for one in group.commands.values():
        yield from all_options(one) if isinstance(one, click.Group) else options_of(one)


def commands(page):
    return [(words, unknown) for words in calls(page) if (unknown := unknown_words(words))]


def options(page):
    """Find options that are named alone: of commands, tools, benchmarks, model servers and other programs."""
    sources = [
        *(ROOT / "tools").rglob("*.py"),
        *(ROOT / "benchmarks").rglob("*.py"),
        ROOT / "docker-compose.yml",
    ]
    text = "".join(path.read_text("utf-8") for path in sources)
    known = {*re.findall(r"--[a-z][a-z-]+", text), *OF_OTHER_PROGRAMS, *all_options(cli)}
    return {code.split()[0].partition("=")[0] for code in code_of(page) if re.match(r"--[a-z]", code)} - known


def settings(page):
    """Find settings; SHRAG_LLM__… and SHRAG_SOURCES__NAME__… name groups."""
    named = set(re.findall(r"\bSHRAG_[A-Z0-9_]+", PAGES[page])) - SETTINGS - OTHER_VARIABLES
    unknown = {name for name in named if not name.startswith(("SHRAG_TEST_", "SHRAG_SOURCES__"))}
    shortened = set(re.findall(r"`…(?:__)?([A-Z][A-Z0-9_]*)`", PAGES[page]))
    return [
        *(name for name in unknown if not any(each.startswith(name) for each in SETTINGS)),
        *(name for name in shortened if not any(each.endswith(f"__{name}") for each in SETTINGS)),
    ]


def targets_of_make(page):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set()
    for line in code_of(page):
        for words in re.findall(r"(?:^|&& |; )(?:\w+=\S+ )*make (?:-C \S+ )?([^#|;&]+)", line):
            named |= {word for word in words.split() if re.fullmatch(r"[a-z][a-z-]*", word)}
    return named - set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))


def modules(page):
    named = set(re.findall(r"python -m ((?:tools|benchmarks|tests)\b[a-z_.]*[a-z])\b", PAGES[page]))
    paths = {name: ROOT / name.replace(".", "/") for name in named}
    return [name for name, path in paths.items() if not (path.with_suffix(".py").exists() or path.is_dir())]


def links(page):
    """Find links to files and headings."""
    folder, text = (ROOT / page).parent, FENCED.sub("", PAGES[page])
    for path, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        target = (folder / path).resolve() if path else ROOT / page
        if not target.exists():
            yield path
        elif heading and heading not in headings(target.relative_to(ROOT).as_posix()):
            yield f"{path}#{heading}"


def headings(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", FENCED.sub("", PAGES[page]), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("missing", [commands, options, settings, targets_of_make, modules, links])
def test_what_a_page_names_exists(missing):
    assert {page: found for page in PAGES if (found := [*missing(page)])} == {}


def test_every_path_of_the_architecture_exists():
    packages = "base|benchmarks|docker|eval|generator|indexer|retriever|sample|server|stack|tests|tools"
    named = set(re.findall(rf"(?<![\w/])(?:{packages})/[\w./]*\w", PAGES["docs/architecture.md"]))
    assert len(named) > 50
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_the_index_lists_every_page():
    linked = set(re.findall(r"\]\(([^)#\s]+)\)", PAGES["docs/README.md"]))
    pages = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")} - {"README.md"}
    assert pages - linked == set()


def test_an_unknown_command_option_or_setting_would_be_found():
    assert unknown_words(["indexes", "snapshot"]) == ["snapshot"]
    assert unknown_words(["search", "QUESTION", "--colour"]) == ["--colour"]
    assert unknown_words(["bundle", "OUT", "--extra", "pdf"]) == []
    assert unknown_words(["nothing"]) == ["nothing"]
    assert len(list(calls("docs/how-to/indexing.md"))) > 10
    assert any("--vectors-only" in words for words in calls("docs/how-to/indexing.md"))


TRIED = ("README.md", "docs/tutorial/first-steps.md")
TEXT = "\n".join(PAGES[page] for page in TRIED)
PYTHON = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
CALLS = [words for page in TRIED for words in calls(page) if words]
QUICK = [words for words in CALLS if words[0] in {"index", "search", "ask"}]


def test_the_python_examples_answer_from_the_sample(sample_home, monkeypatch, capsys):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    assert PYTHON
    for code in PYTHON:
        exec(compile(code, "first-steps.md", "exec"), {})
        assert "SAMPLE-" in capsys.readouterr().out


def test_the_quick_calls_run_one_after_the_other(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "sample", tmp_path / "sample")
    shutil.copy(ROOT / "sample" / "papers.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    shrag("index", "sample/papers.jsonl", "--name", "sample", home=tmp_path / "home")  # as `make demo` does
    tried = [words for words in QUICK if "--source" not in words]  # whose server is somebody else's
    assert {words[0] for words in tried} == {"index", "search", "ask"}
    for words in tried:
        done = shrag(*words, home=tmp_path / "home")
        assert (done.returncode, bool(done.stdout)) == (0, True), (words, done.stderr)
