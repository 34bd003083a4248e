"""Versions of what is installed, for records of how something was made."""

from importlib.metadata import PackageNotFoundError, version


def installed_version(distribution: str) -> str:
    """Return the version of a distribution; "not installed" where there is none, as in a bare checkout."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
