"""Standard output and error that are closed, full, without a reader, or of a narrow encoding."""

import json
import os
import subprocess
from typing import Any

import pytest

from tests.generator.sample_index import NAME, shrag
from tests.indexer.made_corpora import WITHOUT_COMPILING, command, environment_of, limited
from tests.needs import mostly_nightly

SEARCH = ("search", "methane rice paddies", "--name", NAME, "-k", "2")


def run(home, *arguments, env=None, **options):
    return subprocess.run(
        command(*arguments), env=environment_of(home) | (env or {}), check=False, timeout=120, **options
    )


PIPES: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
CLOSED = b"OutputNotWritten: stdout cannot be written: closed; open, or redirect it\n"


@pytest.mark.parametrize(("descriptor", "said"), [(1, CLOSED), (2, b"")])
def test_a_closed_stream_is_no_success(sample_home, descriptor, said):
    done = run(sample_home, *SEARCH, preexec_fn=lambda: os.close(descriptor), **PIPES)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", said)


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


READ_BY_NOBODY = [("indexes", "export", NAME), SEARCH, (*SEARCH, "--json")]


@pytest.mark.parametrize("arguments", READ_BY_NOBODY, ids=["export", "table", "json"])
def test_what_nobody_reads_any_more_is_one_exit_code_and_no_traceback(sample_home, arguments):
    environment = environment_of(sample_home)
    with subprocess.Popen(command(*arguments), env=environment, **PIPES) as unread:
        assert unread.stdout
        unread.stdout.close()
        assert unread.stderr
        said = unread.stderr.read()
    assert (unread.returncode, said) == (1, b"")


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
