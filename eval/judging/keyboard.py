"""Keys of a person at a terminal, or characters of a pipe; and a loop over items that each get one key."""

import codecs
import os
import re
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from base.terminal.output import echo

T = TypeVar("T")

KEY = re.compile(r"\x1b[\[O][A-Z]|.", re.DOTALL)  # an arrow key, or a character
LEFT = frozenset({"\x1b[D", "\x1bOD"})
END = "\x04"  # Ctrl-D
# The letters of the Korean keyboard (Dubeolsik) at the places of the Latin ones.
HANGUL = dict(
    zip("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ", "qwertyuiopasdfghjklzxcvbnm", strict=True)
)
SKIP, BACK, QUIT = "s", "b", "q"
READ = 1_024  # bytes


@contextmanager
def typed_keys() -> Iterator[Iterator[str]]:
    """Yield the keys of standard input until it ends; white space of a pipe is left out.

    On a terminal a key needs no Enter, and keys typed ahead are kept. The left arrow counts as `b`, a key of
    the Korean keyboard as the Latin letter at its place.
    """
    if not sys.stdin.isatty():
        yield (_letter(key) for line in sys.stdin for key in line if not key.isspace())
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        yield _keys_of(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _keys_of(terminal: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while typed := os.read(terminal, READ):
        for key in KEY.findall(decoder.decode(typed)):
            if key == END:
                return
            yield BACK if key in LEFT else _letter(key)


def _letter(key: str) -> str:
    return HANGUL.get(key, key.lower())


def work_through(
    items: Sequence[T],
    is_done: Callable[[T], bool],
    show: Callable[[T, int], None],
    choices: Mapping[str, str],
    choose: Callable[[T, str], None],
    keys: Iterator[str],
) -> None:
    """Show the items that are not done, one after the other, and pass the key of each to `choose`.

    `b` returns to the item before, done or not. `q`, or the end of the keys, ends the loop. Other keys that
    `choices` lacks are refused. After the last item the loop continues at the first one that is not done.

    Args:
        items: in their order.
        is_done: whether an item has a key from an earlier session or from this one.
        show: prints an item; the number is its place from 1.
        choices: a description for each key.
        choose: stores the key of an item.
        keys: the keys.
    """
    offered = "  ".join(f"{key} {name}" for key, name in {**choices, BACK: "back", QUIT: "quit"}.items())
    place = _next_open(items, is_done, 0)
    while place is not None:
        show(items[place], place + 1)
        echo(offered)
        for key in keys:
            if key in choices or key in {BACK, QUIT}:
                break
            echo(f"no such key: {key}")
        else:
            return
        if key == QUIT:
            return
        if key == BACK:
            place = max(0, place - 1)
            continue
        echo(f"> {choices[key]}")
        choose(items[place], key)
        place = _next_open(items, is_done, place + 1)


def _next_open(items: Sequence[T], is_done: Callable[[T], bool], start: int) -> int | None:
    """Return the place of the first item that is not done, from `start` on, else from the beginning."""
    order = [*range(start, len(items)), *range(min(start, len(items)))]
    return next((place for place in order if not is_done(items[place])), None)
