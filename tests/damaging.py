"""Tries commands on damaged copies of an index: a process of its own, which forks for each damage.

`python -m tests.damaging HOME [BYTES]` reads a line of JSON for each damage: {"path", "how", "commands"}, the
path below HOME. It writes one back: [[exit code, standard output, standard error], …], or how it ended.
BYTES are read of an index when it is opened, instead of as many as of any.
"""

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

import indexer.versions.store.folder
import shrag
from indexer.versions.fingerprint import lexical_fingerprint

LOADED = (
    *(module.partition(":")[0] for module, _ in shrag.COMMANDS.values()),
    *(
        "generator.pipeline",
        "indexer.ingest",
        "base.terminal.progress_bar",
        "retriever.index",
        "retriever.search",
    ),
)
SECONDS = 200  # until a command counts as one that never ends
MEMORY = 4 << 30


def flip(path: Path, place: float) -> None:
    """Flip a bit at a place between the beginning, 0, and the end, 1."""
    content = bytearray(path.read_bytes() or b"\0")
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)


def swap(path: Path) -> None:
    """Let another file of the folder take its place, and it the other's; without another, an empty one's."""
    others = [one for one in sorted(path.parent.iterdir()) if one.is_file() and one != path]
    other = next((one for one in others if one.read_bytes() != path.read_bytes()), path.with_name("other"))
    other.touch()
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


def make_a_folder(path: Path) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


DAMAGES = {
    "none": lambda _: None,
    "flip first": lambda path: flip(path, 0),
    "flip early": lambda path: flip(path, 0.3),
    "flip middle": lambda path: flip(path, 0.5),
    "flip late": lambda path: flip(path, 0.8),
    "flip last": lambda path: flip(path, 1),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: os.truncate(path, 0),
    "remove": lambda path: path.unlink(),
    "swap": swap,
    "folder": make_a_folder,
}


def run(arguments: list[str]) -> int:
    """Run `shrag`; return its exit code, or -1 where it raised what it should have told."""
    sys.argv = ["shrag", *arguments]
    try:
        shrag.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:  # noqa: BLE001 - the test is told
        sys.stderr.write(f"raised {error!r}")
        return -1
    return 0


def captured(arguments: list[str]) -> tuple[int, str, str]:
    """Run `shrag` with its output in files, so that what libraries print is captured too."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = out, err
        signal.alarm(SECONDS)
        code = run(arguments)
        signal.alarm(0)
        return code, _written(out), _written(err)


def _written(file: IO[str]) -> str:
    file.flush()
    file.seek(0)
    return file.read()


def tried(home: Path, damage: dict[str, Any], answer: int) -> None:
    """Damage a copy of the home, run the commands on it, and write down how they end."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(home, Path(folder) / "home"))
        os.environ["SHRAG_HOME"] = str(copy)
        DAMAGES[damage["how"]](copy / damage["path"])
        outcomes = [
            captured([one.replace("HOME", str(copy)) for one in words]) for words in damage["commands"]
        ]
        text = json.dumps(outcomes).replace(json.dumps(str(copy))[1:-1], "HOME")
        os.write(answer, text.encode())


def main() -> None:
    """Answer lines until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    home = Path(sys.argv[1])
    if len(sys.argv) > 2:
        vars(indexer.versions.store.folder)["READ_ON_OPENING"] = int(sys.argv[2])
    lexical_fingerprint("bilingual", "discard")  # loads what analyses, once
    for module in LOADED:
        import_module(module)
    click.echo("ready")
    for line in sys.stdin:
        with tempfile.TemporaryFile() as answer:
            child = os.fork()
            if not child:
                try:
                    tried(home, json.loads(line), answer.fileno())
                finally:
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            answer.seek(0)
            text = answer.read().decode()
        click.echo(text or json.dumps({"ended by": status}))


if __name__ == "__main__":
    main()
