"""Shell completion of names."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completing(names: Callable[[], Iterable[str]], *, files: bool = False) -> Completion:
    """Return click's `shell_complete` for names, also after a comma; `files` adds file names as fallback.

    If the names cannot be read, nothing is completed, and no error is printed into the shell's prompt.
    """

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        with suppress(Exception):
            if fitting := [name for name in names() if name.startswith(begun)]:
                return [CompletionItem(before + comma + name) for name in fitting]
        return [CompletionItem(incomplete, type="file")] if files else []

    return complete
