"""Versions of installed distributions, recorded with results."""

from importlib.metadata import PackageNotFoundError, version


def installed_version(distribution: str) -> str:
    """Return the version of a distribution; "not installed" if there is none, as in a bare checkout."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
