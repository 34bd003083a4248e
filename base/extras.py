"""Remedies of a missing library: the extra of the installation that brings it."""


def extra_remedy(extra: str) -> str:
    """Describe how to install an extra, in a checkout and elsewhere."""
    return f"install it with `make install-{extra}` (pip: the extra `{extra}`)"
