"""The place of a question: a named index, or sources searched as one index."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from base.errors import InvalidCall
from indexer.settings import IndexerSettings

if TYPE_CHECKING:  # loaded where an index is opened
    from retriever.index import OpenIndex

T = TypeVar("T")


def check_places(name: str, sources: Sequence[str]) -> None:
    """Refuse a call that names both an index and sources."""
    if sources and isinstance(sources, str):
        raise InvalidCall(f"sources must be a list of names, not one name: {sources[:100]!r}")
    if name and sources:
        raise InvalidCall(f"index {name[:100]!r} and sources exclude each other: give only one of them")


def check_files(written: Mapping[str, Path | None], read: Sequence[Path | None]) -> None:
    """Check the output files of a command, by their options, before its work.

    Raises:
        UsageError: two options name the same file.
        InvalidCall, UnknownPath: an output would overwrite a file that is `read`, or cannot be written.
    """
    from base.files.output_files import check_output, is_same_file

    files = [(option, file) for option, file in written.items() if file]
    for (option, file), (other, another) in combinations(files, 2):
        if is_same_file(file, another):
            raise click.UsageError(f"{option} and {other} name the same file")
    for _, file in files:
        check_output(file, read)


def ask_place(
    name: str,
    sources: Sequence[str],
    settings: IndexerSettings,
    synonyms: Path | None,
    question: "Callable[[OpenIndex], Coroutine[Any, Any, T]]",
) -> T:
    """Open an index or sources, given as names in `shrag.toml` or as files; return the result of `question`.

    Raises:
        UnknownIndex, UnknownSource, InvalidSource: no such place, or an invalid declaration.
        SourceFailed: no source answers.
    """

    async def ask_sources() -> T:
        from retriever.sources.gathered import open_sources

        async with open_sources(sources, settings, synonyms) as index:
            return await question(index)

    if sources:
        return run(ask_sources())
    from retriever.index import open_index

    with open_index(settings, name, synonyms, follow=True) as index:
        return run(question(index))


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, also if an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
