"""The commands of the server: `serve` and `mcp`."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from base.errors import LibraryMissing
from base.extras import extra_remedy
from base.terminal.output import echo
from indexer.options import INTERRUPTED, name_option


@contextmanager
def _installed() -> Iterator[None]:
    """Report how to install the server if an import in the block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"the server is not installed ({error.name} is missing)", remedy=extra_remedy("server")
        ) from error


@click.command()
@click.option("--host", help="Address to listen on; default SHRAG_SERVER__HOST, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Default SHRAG_SERVER__PORT, else 8080.")
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    help="Processes; default SHRAG_SERVER__WORKERS, else one per core; one with local models or services.",
)
@click.option("--open", "is_open", is_flag=True, help="Answer everybody, without keys, at any address.")
def serve(host: str | None, port: int | None, workers: int | None, is_open: bool) -> None:
    """Serve the page, the API and the endpoints for other programs."""
    with _installed():
        from server.serving import serve as run
    from server.settings import ServerSettings

    given = {"host": host, "port": port, "workers": workers, "open": is_open or None}
    settings = ServerSettings().model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    run(settings, lambda address: echo(f"SHRAG at {address}", err=True))


@click.command()
@name_option
def mcp(name: str | None) -> None:
    """Serve a Model Context Protocol client on standard input and output.

    For Claude Desktop, editors and agents, which start it themselves; `shrag serve` answers at /mcp.
    """
    import asyncio

    with _installed():
        from server.mcp.protocol import serve_standard_io
    from generator.request import Settings
    from server.settings import ServerSettings

    settings = Settings.from_environment()
    try:
        asyncio.run(serve_standard_io(settings, ServerSettings(), name or settings.indexer.name or None))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
