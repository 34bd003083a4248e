"""The commands for keys: `keys create`, `list`, `revoke`."""

import sys
from datetime import UTC, datetime

import click

from base.errors import InvalidCall
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import NAME
from retriever.sources.configuration import NAME as SOURCE_NAME
from server.access.key_store import Keys
from server.access.keys import Key, KeyLimits, end_of, make_key
from server.changes import note_change
from server.roles import ROLES, Role
from server.store import Store

ROLE_OF_SCOPE: dict[str, Role] = {"read": "reader", "admin": "operator"}


@click.group()
def keys() -> None:
    """Create, list and revoke the keys of callers."""


@keys.command()
@click.option("--label", default="", help="The owner, as shown in lists and the audit log.")
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default="reader",
    show_default=True,
    help="A librarian also exports without a rate limit and sees statistics; an operator may do everything.",
)
@click.option(
    "--scope",
    type=click.Choice(tuple(ROLE_OF_SCOPE)),
    help="Former name of --role: read is reader, admin is operator.",
)
@click.option("--index", "indexes", multiple=True, metavar="NAME", help="Allow this index only; repeatable.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Allow this source; --index or --source excludes all other indexes and sources; repeatable.",
)
@click.option(
    "--rate",
    "per_minute",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Searches and questions a minute; 0 = no limit. Default: the server's settings.",
)
@click.option(
    "--per-day",
    type=click.IntRange(1, 1_000_000_000),
    metavar="N",
    help="Searches and questions a day (UTC).",
)
@click.option(
    "--connections",
    type=click.IntRange(0, 1_000),
    metavar="N",
    help="Open calls; 0 = no limit. Default: the server's setting.",
)
@click.option("--expires", metavar="90d|DATE", help="After a number of days, or at the end of a day (UTC).")
@json_option
def create(  # noqa: PLR0913, PLR0917 - one for each option
    label: str,
    role: Role,
    scope: str | None,
    indexes: tuple[str, ...],
    sources: tuple[str, ...],
    per_minute: int | None,
    per_day: int | None,
    connections: int | None,
    expires: str | None,
    as_json: bool,
) -> None:
    """Create a key and print it on standard output. It is shown only once."""
    now = datetime.now(UTC)
    for name in indexes:
        if not NAME.fullmatch(name):
            raise InvalidCall(f"{name!r} cannot name an index")
    for name in sources:
        if not SOURCE_NAME.fullmatch(name):
            raise InvalidCall(f"{name!r} cannot name a source")
    role = ROLE_OF_SCOPE[scope] if scope else role
    if role == "operator" and (indexes or sources):
        raise InvalidCall(
            "a key of the role operator allows every index and source",
            remedy="omit --index and --source",
        )
    text, key = make_key(
        label,
        role,
        tuple(dict.fromkeys(indexes)),
        end_of(expires, now) if expires else None,
        sources=tuple(dict.fromkeys(sources)),
        limits=KeyLimits(per_minute, per_day, connections),
    )
    _keys().add(key)
    try:
        echo_json({"key": text} | key.as_record(now)) if as_json else echo(text)
        sys.stdout.flush()
    except OSError:  # nobody has seen the key
        _keys().revoke(key.id, now)
        raise
    if not as_json:
        echo(f"key {key.id}: {_described(key)}. It will not be shown again.", err=True)
    note_change("key created", key=key.id, role=key.role, indexes=key.indexes, sources=key.sources)


@keys.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the keys, including expired and revoked ones."""
    now = datetime.now(UTC)
    kept = _keys().all()
    if as_json:
        echo_json({"keys": [key.as_record(now) for key in kept.values()]})
        return
    if not kept:
        echo("no keys yet; make one with: shrag keys create")
        return
    rows = [("id", "label", "role", "opens", "limits", "created", "expires", "last used", "state")]
    rows += [
        (
            *(key.id, key.label, key.role, _opened(key) or "all"),
            *(
                str(key.limits),
                _day(key.created),
                _day(key.expires) or "never",
                str(key.last_used or "never"),
                key.state(now),
            ),
        )
        for key in kept.values()
    ]
    echo_lines(table(rows))


@keys.command()
@click.argument("key_id", metavar="ID")
@json_option
def revoke(key_id: str, as_json: bool) -> None:
    """Revoke a key, also in running servers."""
    now = datetime.now(UTC)
    key = _keys().revoke(key_id, now)
    note_change("key revoked", key=key.id)
    if as_json:
        echo_json(key.as_record(now))
    else:
        echo(f"key {key.id} is revoked")


def _keys() -> Keys:
    return Keys(Store(IndexerSettings().home))


def _described(key: Key) -> str:
    """Describe the role and expiry of a key."""
    opened = _opened(key) or "all indexes and sources"
    ends = f"until {_day(key.expires)}" if key.expires else "for ever"
    return ", ".join(filter(None, (key.role, opened, str(key.limits), ends)))


def _opened(key: Key) -> str:
    return ", ".join([*key.indexes, *(f"source {name}" for name in key.sources)])


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""
