"""Files that a browser saves: the header that names them."""

from urllib.parse import quote


def saved_as(name: str) -> dict[str, str]:
    """Return the header that names a file (RFC 6266); other letters than ASCII's as RFC 8187 writes them."""
    if name.isascii():
        return {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
