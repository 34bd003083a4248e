"""What a shell completes where an option takes a name."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completing(names: Callable[[], Iterable[str]], *, files: bool = False) -> Completion:
    """Return click's `shell_complete` for names, also behind a comma; with `files` else for a file.

    Where the names cannot be read nothing is completed, and nothing is said: the shell would show it.
    """

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        with suppress(Exception):
            if fitting := [name for name in names() if name.startswith(begun)]:
                return [CompletionItem(before + comma + name) for name in fitting]
        return [CompletionItem(incomplete, type="file")] if files else []

    return complete
