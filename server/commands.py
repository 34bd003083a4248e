"""The commands of the server: `serve` and `mcp`, and on its store `keys`, `sessions` and `statistics`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from base.amounts import counted
from base.errors import InvalidCall, LibraryMissing
from base.extras import extra_remedy
from base.terminal.call_options import call_options
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import INTERRUPTED, json_option, name_option
from indexer.settings import IndexerSettings
from server.access.keys import Key, KeyCall, Keys, Session, end_sessions_of, persons_sessions
from server.monitoring.audit import note_change
from server.monitoring.search_statistics import read_statistics
from server.settings import ServerSettings
from server.store import Store

LIST_SESSIONS = "list the sessions: shrag sessions list"


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

    settings = Settings.from_environment()
    try:
        asyncio.run(serve_standard_io(settings, ServerSettings(), name or settings.indexer.name or None))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _store() -> Store:
    return Store(IndexerSettings().home)


@click.group()
def keys() -> None:
    """Create, list and revoke the keys of callers."""


@keys.command()
@call_options(KeyCall)
@json_option
def create(call: KeyCall, as_json: bool) -> None:
    """Create a key and print it on standard output. It is shown only once."""
    now = datetime.now(UTC)
    text, key = call.key(now)
    stored = Keys(_store())
    stored.add(key)
    try:
        echo_json({"key": text} | key.as_record(now)) if as_json else echo(text)
        sys.stdout.flush()
    except OSError:  # nobody has seen the key
        stored.revoke(key.id, now)
        raise
    if not as_json:
        opened = _opened(key) or "all indexes and sources"
        ending = f"until {_day(key.expires)}" if key.expires else "for ever"
        described = ", ".join(filter(None, (key.role, opened, key.limits, ending)))
        echo(f"key {key.id}: {described}. It will not be shown again.", err=True)
    note_change("key created", **key.audited())


@keys.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """List the keys, including expired and revoked ones."""
    now = datetime.now(UTC)
    kept = Keys(_store()).all().values()
    if as_json:
        echo_json({"keys": [key.as_record(now) for key in kept]})
        return
    rows = [
        (
            *(key.id, key.label, key.role, _opened(key) or "all", key.limits, _day(key.created)),
            *(_day(key.expires) or "never", str(key.last_used or "never"), key.state(now)),
        )
        for key in kept
    ]
    head = ("id", "label", "role", "opens", "limits", "created", "expires", "last used", "state")
    echo_lines(table([head, *rows]) if rows else ["no keys yet; make one with: shrag keys create"])


@keys.command()
@click.argument("key_id", metavar="ID")
@json_option
def revoke(key_id: str, as_json: bool) -> None:
    """Revoke a key, also in running servers."""
    now = datetime.now(UTC)
    key = Keys(_store()).revoke(key_id, now)
    note_change("key revoked", key=key.id)
    echo_json(key.as_record(now)) if as_json else echo(f"key {key.id} is revoked")


def _opened(key: Key) -> str:
    return ", ".join([*key.indexes, *(f"source {name}" for name in key.sources)])


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


@click.group()
def sessions() -> None:
    """List and end the sessions of persons who signed in at a provider."""


@sessions.command("list")
@json_option
def list_sessions(as_json: bool) -> None:
    """List the sessions that have not expired, by person; idle ones too."""
    found = [_record(session) for session in persons_sessions(_store())]
    if as_json:
        echo_json({"sessions": found})
        return
    rows = [tuple(each.values()) for each in found]
    rows = [(person, name, ", ".join(groups), *times) for person, name, groups, *times in rows]
    head = ("person", "name", "groups", "last call", "expires")
    echo_lines(table([head, *rows]) if rows else ["no sessions"])


@sessions.command()
@click.argument("persons", nargs=-1, metavar="[PERSON]...")
@click.option("--all", "everybody", is_flag=True, help="End the sessions of all persons.")
@json_option
def end(persons: tuple[str, ...], everybody: bool, as_json: bool) -> None:
    """End all sessions of persons, also in running servers.

    PERSON is the pseudonym that `shrag sessions list` and the audit log show. A person can sign in again,
    unless the provider refuses.
    """
    if bool(persons) == everybody:
        raise InvalidCall("sessions end takes persons, or --all", remedy=LIST_SESSIONS)
    store = _store()
    known = {session.person for session in persons_sessions(store)}
    if unknown := [person for person in persons if person not in known]:
        raise InvalidCall(f"{unknown[0]!r} has no session", remedy=LIST_SESSIONS)
    ended: dict[str, int] = {}
    for person in sorted(known if everybody else {*persons}):
        ended[person] = end_sessions_of(store, person)
        note_change("sessions ended", person=person, sessions=ended[person])
    said = f"{counted(sum(ended.values()), 'session')} of {counted(len(ended), 'person')} ended"
    echo_json({"ended": ended}) if as_json else echo(said)


def _record(session: Session) -> dict[str, Any]:
    """Return a session as JSON, without the hash of its cookie."""
    seen, expires = (
        datetime.fromtimestamp(each, UTC).isoformat(timespec="minutes")
        for each in (session.seen, session.expires)
    )
    return {
        "person": session.person,
        "name": session.name,
        "groups": json.loads(session.groups),
        "last_call": seen,
        "expires": expires,
    }


@click.command()
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=30,
    show_default=True,
    help="Days to count, with today (UTC).",
)
@json_option
def statistics(days: int, as_json: bool) -> None:
    """Show the searches of the server, without their callers, and questions that found nothing."""
    are_counted = ServerSettings().statistics
    found = read_statistics(_store(), days)
    if as_json:
        echo_json({"counted": are_counted, **found})
        return
    if not are_counted:
        echo("searches are not counted; SHRAG_SERVER__STATISTICS=true counts them", err=True)
    for name in ("days", "indexes", "words", "without_results"):
        if rows := found[name]:
            echo_lines([*table([tuple(rows[0]), *(tuple(map(str, row.values())) for row in rows)]), ""])
