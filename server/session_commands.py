"""The commands for sessions of persons: `sessions list`, `end`."""

import json
from datetime import UTC, datetime
from typing import Any

import click

from base.amounts import counted
from base.errors import InvalidCall
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import json_option
from indexer.settings import IndexerSettings
from server.access.sessions import Session, end_sessions_of, persons_sessions
from server.changes import note_change
from server.store import Store


@click.group()
def sessions() -> None:
    """List and end the sessions of persons who signed in at a provider."""


@sessions.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the sessions that have not expired, by person; idle ones too."""
    found = [_record(session) for session in persons_sessions(_store())]
    if as_json:
        echo_json({"sessions": found})
        return
    if not found:
        echo("no sessions")
        return
    rows = [("person", "name", "groups", "last call", "expires")]
    rows += [
        (each["person"], each["name"], ", ".join(each["groups"]), each["last_call"], each["expires"])
        for each in found
    ]
    echo_lines(table(rows))


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
        raise InvalidCall(
            "sessions end takes persons, or --all", remedy="list the sessions: shrag sessions list"
        )
    store = _store()
    known = {session.person for session in persons_sessions(store)}
    if unknown := [person for person in persons if person not in known]:
        raise InvalidCall(f"{unknown[0]!r} has no session", remedy="list the sessions: shrag sessions list")
    ended: dict[str, int] = {}
    for person in sorted(known if everybody else {*persons}):
        ended[person] = end_sessions_of(store, person)
        note_change("sessions ended", person=person, sessions=ended[person])
    if as_json:
        echo_json({"ended": ended})
    else:
        echo(f"{counted(sum(ended.values()), 'session')} of {counted(len(ended), 'person')} ended")


def _store() -> Store:
    return Store(IndexerSettings().home)


def _record(session: Session) -> dict[str, Any]:
    """Return a session as JSON, without the hash of its cookie."""
    return {
        "person": session.person,
        "name": session.name,
        "groups": json.loads(session.groups),
        "last_call": _moment(session.seen),
        "expires": _moment(session.expires),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")
