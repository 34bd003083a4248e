"""Output of commands: text without terminal control sequences, and JSON.

All output goes through `echo` and `echo_json`: titles, file names and messages of servers are printed as
text, never as a control sequence, an additional line or markup.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

# Characters that control a terminal: controls, line and paragraph separators, direction marks (UAX #9), and
# lone surrogates. Joiners (U+200C, U+200D) and combining marks are parts of words and are kept.
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
STEERING_IN_JSON = re.compile(STEERING.pattern.replace(r"\x00-\x1f", ""))  # JSON escapes C0 controls


LONGEST_SHOWN = 300  # characters of a title, a journal, a name; records have no limit


class Styled(str):
    """Escaped and coloured text made by `styled`."""

    __slots__ = ()


def time_with_start() -> str:
    """Describe the time since this process was started, with the start of Python and the imports."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # proc(5): field 22, since the machine was booted
    return f"{time.clock_gettime(time.CLOCK_BOOTTIME) - started:.1f} s with the start of the command"


def visible(text: str) -> str:
    r"""Escape text for one terminal line: white space as spaces, control characters as \x1b, \u202e."""
    return STEERING.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    return " " if character.isspace() else ascii(character)[1:-1]


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """Shorten a text to at most `most` characters, with … for the rest; `--json` contains the full text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def styled(text: str, **style: Any) -> Styled:
    """Return escaped text in a click style; the style is omitted if the output is not a terminal."""
    return Styled(click.style(visible(text), **style))


def echo(*parts: str, err: bool = False) -> None:
    """Print one line to standard output or error: the concatenated parts, each escaped."""
    line = "".join(part if isinstance(part, Styled) else visible(part) for part in parts)
    click.echo(line, file=sys.stderr if err else sys.stdout)


def echo_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines to standard output or error, each escaped."""
    for line in lines:
        echo(line, err=err)


def echo_json(record: Any, *, err: bool = False) -> None:
    """Print one JSON object on a line; in ASCII if the stream's encoding is not a Unicode encoding."""
    stream = sys.stderr if err else sys.stdout
    unicode = (stream.encoding or "utf-8").lower().startswith("utf")
    click.echo(json_text(record) if unicode else json.dumps(record), file=stream)


def json_text(record: Any, **options: Any) -> str:
    """Serialize to readable JSON; characters that control a terminal are escaped."""
    return escaped_json(json.dumps(record, ensure_ascii=False, **options))


def escaped_json(text: str) -> str:
    r"""Escape DEL, C1 controls, separators and direction marks in JSON as \u sequences."""
    return STEERING_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
