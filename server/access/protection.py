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
        KeysUnreadable: whether there are keys cannot be told.
    """
    now = datetime.now(UTC)
    try:
        usable = [key for key in KeyStore(home).read().keys.values() if key.state(now) == "active"]
    except KeysEmpty:  # the server answers nobody; its health says why
        usable = []
    if usable or server.open or server.only_local:
        return
    names = server.public_url or server.allowed_hosts or (server.proxies and "through a proxy")
    reached = f"{server.host} ({names})" if names else server.host
    raise NotProtected(
        f"at {reached} others could ask, and there is no key that opens this server",
        remedy=("make one (shrag keys create)", "answer everybody (--open)"),
    )
