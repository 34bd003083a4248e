"""The commands of the server: `serve`."""

import click

from indexer.errors import LibraryMissing
from indexer.terminal import echo


@click.command()
@click.option("--host", help="Address to listen at; default SHRAG_SERVER__HOST, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Default SHRAG_SERVER__PORT, else 8080.")
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Processes; default SHRAG_SERVER__WORKERS, else 1."
)
@click.option("--open", "is_open", is_flag=True, help="Answer everybody, without keys, at any address.")
def serve(host: str | None, port: int | None, workers: int | None, is_open: bool) -> None:
    """Serve the page, the API and the ways in for other programs."""
    try:
        from server.serving import serve as run
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"the server is not installed ({error.name} is missing)", remedy="install it: make install-server"
        ) from error
    from server.settings import ServerSettings

    given = {"host": host, "port": port, "workers": workers, "open": is_open or None}
    settings = ServerSettings().model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    run(settings, lambda address: echo(f"SHRAG at {address}", err=True))
