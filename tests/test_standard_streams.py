"""Standard output and error that are closed, full, without a reader, or of a narrow encoding."""

import json
import os
import subprocess

import pytest

from tests.generator.sample_index import NAME, shrag
from tests.indexer.made_corpora import WITHOUT_COMPILING, command, environment_of, limited
from tests.needs import mostly_nightly

pytest_plugins = ["tests.generator.sample_index"]
SEARCH = ("search", "methane rice paddies", "--name", NAME, "-k", "2")


def run(home, *arguments, env=None, **options):
    return subprocess.run(
        command(*arguments), env=environment_of(home) | (env or {}), check=False, timeout=120, **options
    )


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_closed_stream_is_no_success(sample_home, descriptor):
    done = run(
        sample_home,
        *SEARCH,
        preexec_fn=lambda: os.close(descriptor),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == (
        b""
        if descriptor == 2
        else b"OutputNotWritten: stdout cannot be written: closed; open, or redirect it\n"
    )


@pytest.mark.parametrize("env", [{"PYTHONUNBUFFERED": ""}, {"PYTHONUNBUFFERED": "1"}], ids=str)
@pytest.mark.parametrize(
    "arguments", [("indexes", "list", "--json"), ("indexes", "export", NAME), ("--help",)]
)
def test_output_that_finds_no_room_is_no_success(sample_home, tmp_path, arguments, env):
    with (tmp_path / "out").open("wb") as out:
        done = run(
            sample_home,
            *arguments,
            env=env | WITHOUT_COMPILING,
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=limited(100),
        )

    assert done.returncode == 1
    assert done.stderr.decode().count("\n") == 1
    assert "allowed size" in done.stderr.decode()


def test_passages_that_nobody_reads_any_more_are_one_exit_code(sample_home):
    exporting = subprocess.Popen(
        command("indexes", "export", NAME),
        env=environment_of(sample_home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert exporting.stdout
    exporting.stdout.close()
    _, said = exporting.communicate(timeout=120)

    assert (exporting.returncode, said) == (1, b"")


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ({"PYTHONIOENCODING": "ascii"}, ["--json"]),
        ({"LC_ALL": "C", "PYTHONUTF8": "0"}, []),
        ({"PYTHONIOENCODING": "latin-1"}, []),
    ],
    ids=str,
)
def test_what_an_encoding_lacks_is_printed_as_its_escape(sample_home, env, options):
    done = run(sample_home, *SEARCH, *options, env=env, capture_output=True)

    assert done.returncode == 0
    if options:
        plain = shrag(*SEARCH, *options, home=sample_home).stdout
        assert json.loads(done.stdout.decode("ascii"))["hits"] == json.loads(plain)["hits"]
    else:
        assert rb"\ub17c" in done.stdout  # 논


@pytest.mark.parametrize(
    ("command_name", "option"),
    mostly_nightly(
        [("find-papers", "--save"), ("find-papers", "--trace"), ("ask", "--trace")],
        by_day={("find-papers", "--save")},
    ),
)
def test_a_reader_who_leaves_costs_no_file(sample_home, tmp_path, command_name, option):
    reading, writing = os.pipe()
    os.close(reading)
    file = tmp_path / "kept.json"
    arguments = (command_name, "methane rice paddies", "--name", NAME, option, str(file))
    try:
        done = run(sample_home, *arguments, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)

    assert done.returncode == 1
    assert json.loads(file.read_text(encoding="utf-8"))
