"""The address within this server to which a reader returns after signing in."""

from urllib.parse import quote, urlsplit

FIRST_PAGE = "/"
LONGEST = 2_000
KEPT = "/?#[]@!$&'()*+,;=:%-._~"  # reserved characters, and escapes


def local_path(given: str) -> str:
    r"""Return a path with its query if it is an address of this server, otherwise the first page.

    Browsers read `//host`, `/\host` and such addresses with white space in them as another host.
    """
    if not given.startswith("/") or len(given) > LONGEST or "\\" in given or not given.isprintable():
        return FIRST_PAGE
    try:
        parts = urlsplit(given)
    except ValueError:
        return FIRST_PAGE
    if given.startswith("//") or parts.scheme or parts.netloc or any(each.isspace() for each in parts.path):
        return FIRST_PAGE
    return quote(given, safe=KEPT)
