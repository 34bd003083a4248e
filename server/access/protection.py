"""The check at startup: a server that is reachable from elsewhere needs keys, or `--open`."""

from datetime import UTC, datetime
from pathlib import Path

from server.access.key_store import KeyStore
from server.errors import KeysEmpty, NotProtected
from server.settings import ServerSettings


def require_protection(server: ServerSettings, home: Path) -> None:
    """Refuse to answer everybody by mistake.

    Raises:
        NotProtected: the server is reachable from elsewhere, has no active key and is not set to be open.
        KeysEmpty: as above, because the file of keys is empty.
        KeysUnreadable: the keys cannot be read.
    """
    now = datetime.now(UTC)
    may_start = server.open or server.only_local
    try:
        usable = [key for key in KeyStore(home).read().keys.values() if key.state(now) == "active"]
    except KeysEmpty:
        if not may_start:
            raise
        return  # /readyz reports the empty file
    if usable or may_start:
        return
    names = server.public_url or server.allowed_hosts or (server.proxies and "through a proxy")
    reached = f"{server.host} ({names})" if names else server.host
    raise NotProtected(
        f"others could reach this server at {reached}, and it has no active key",
        remedy=("create a key (shrag keys create)", "answer everybody (--open)"),
    )
