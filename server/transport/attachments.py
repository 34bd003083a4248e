"""Downloads: the header with the name of a file."""

from urllib.parse import quote


def saved_as(name: str) -> dict[str, str]:
    """Return the header with the name of a file (RFC 6266); non-ASCII names are encoded by RFC 8187."""
    if name.isascii():
        return {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
