"""Whether a server may start: reached from elsewhere it has keys, or somebody has said that it is open."""

from datetime import UTC, datetime
from pathlib import Path

from server.access.key_store import KeyStore
from server.errors import KeysEmpty, NotProtected
from server.settings import ServerSettings


def require_protection(server: ServerSettings, home: Path) -> None:
    """Refuse to answer everybody by mistake.

    Raises:
        NotProtected: it is reached from elsewhere, no key opens it, and nobody has said that it is open.
        KeysEmpty: likewise, as the file of keys is empty.
        KeysUnreadable: whether there are keys cannot be told.
    """
    now = datetime.now(UTC)
    may_start = server.open or server.only_local
    try:
        usable = [key for key in KeyStore(home).read().keys.values() if key.state(now) == "active"]
    except KeysEmpty:
        if not may_start:
            raise
        return  # its health names the empty file
    if usable or may_start:
        return
    names = server.public_url or server.allowed_hosts or (server.proxies and "through a proxy")
    reached = f"{server.host} ({names})" if names else server.host
    raise NotProtected(
        f"at {reached} others could ask, and there is no key that opens this server",
        remedy=("make one (shrag keys create)", "answer everybody (--open)"),
    )
