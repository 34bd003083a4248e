"""What goes with every answer: what a browser may do with it, and who may keep it."""

from collections.abc import Iterable

from server.settings import ServerSettings

# Nothing but what this server sends runs, is shown or is asked; no inline script and no inline style.
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
    "cache-control": "no-store",  # a route whose answers may be kept says so
}
ONE_YEAR_S = 31_536_000

Headers = list[tuple[bytes, bytes]]


def default_headers(settings: ServerSettings) -> Headers:
    """Return the headers of every answer that has not its own of that name."""
    headers = dict(ALWAYS)
    if settings.behind_https:
        headers["strict-transport-security"] = f"max-age={ONE_YEAR_S}"
    if settings.origins:  # pages of other sites are meant to read it
        headers["cross-origin-resource-policy"] = "cross-origin"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def with_defaults(given: Iterable[tuple[bytes, bytes]], defaults: Headers) -> Headers:
    """Return an answer's headers, and those of the defaults that it has not."""
    headers = [(name.lower(), value) for name, value in given]
    names = {name for name, _ in headers}
    return headers + [default for default in defaults if default[0] not in names]
