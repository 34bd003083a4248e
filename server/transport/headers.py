"""Headers: restrictions for browsers and caching, and names of files."""

from collections.abc import Iterable
from urllib.parse import quote

from server.settings import ServerSettings


def saved_as(name: str) -> dict[str, str]:
    """Return the header with the name of a file (RFC 6266); non-ASCII names are encoded by RFC 8187."""
    if name.isascii():
        return {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


# Only content of this server is run, shown or requested; no inline script and no inline style.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' data:; "
    "font-src 'self'; "
    "connect-src 'self'; "
    "manifest-src 'self'; "
    "form-action 'self'; "
    "frame-ancestors 'none'; "
    "base-uri 'none'"
)
ALWAYS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",  # overridden by routes whose responses may be cached
}
ONE_YEAR_S = 31_536_000

Headers = list[tuple[bytes, bytes]]


def default_headers(settings: ServerSettings) -> Headers:
    """Return the default headers of every response."""
    headers = dict(ALWAYS)
    if settings.behind_https:
        headers["strict-transport-security"] = f"max-age={ONE_YEAR_S}"
    if settings.origins:  # pages of other sites may read responses
        headers["cross-origin-resource-policy"] = "cross-origin"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def with_defaults(given: Iterable[tuple[bytes, bytes]], defaults: Headers) -> Headers:
    """Return a response's headers, completed by the defaults."""
    headers = [(name.lower(), value) for name, value in given]
    names = {name for name, _ in headers}
    return headers + [default for default in defaults if default[0] not in names]
