"""The check at startup: a server that is reachable from elsewhere needs keys, or `--open`."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

from base.files.durable import cause_of
from base.files.regular_files import read_secret
from base.net.networks import is_loopback
from server.access.key_store import Keys
from server.access.sign_in.signing_in import PSEUDONYMS
from server.errors import NotProtected, SignInUnusable, StoreEmpty
from server.settings import ServerSettings, SignInSettings
from server.store import Store


def require_protection(server: ServerSettings, store: Store, sign_in: SignInSettings) -> None:
    """Refuse to answer everybody by mistake.

    Raises:
        NotProtected: the server is reachable from elsewhere, has no active key and is not set to be open.
        StoreEmpty: as above, because the file of keys is empty.
        StoreUnusable: the keys cannot be read.
        SignInUnusable: with these settings nobody could sign in safely.
    """
    if sign_in.is_used:
        _check_sign_in(server, sign_in)
        store.secret(PSEUDONYMS)
    now = datetime.now(UTC)
    may_start = server.open or server.only_local or sign_in.is_used
    try:
        usable = [key for key in Keys(store).all().values() if key.state(now) == "active"]
    except StoreEmpty:
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


def _check_sign_in(server: ServerSettings, sign_in: SignInSettings) -> None:
    if not sign_in.issuer:
        return
    if not server.public_url:
        raise SignInUnusable(
            "sign-in needs the address to which the provider sends readers back",
            remedy="set SHRAG_SERVER__PUBLIC_URL to the address of this server for readers",
        )
    host = urlsplit(server.public_url).hostname or ""
    if not (server.behind_https or host == "localhost" or is_loopback(host)):
        raise SignInUnusable(
            f"{server.public_url}: sessions would be sent unencrypted",
            remedy="use https at a proxy, and in SHRAG_SERVER__PUBLIC_URL",
        )
    if sign_in.client_secret_file:
        try:
            read_secret(sign_in.client_secret_file)
        except (OSError, ValueError) as error:
            why = cause_of(error) if isinstance(error, OSError) else str(error)
            raise SignInUnusable(
                f"{sign_in.client_secret_file} cannot be read: {why}",
                remedy="correct SHRAG_SERVER__SIGN_IN__CLIENT_SECRET_FILE",
            ) from None
