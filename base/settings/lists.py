"""Settings that hold several values, separated by commas."""


def listed(value: str) -> list[str]:
    """Split a comma-separated setting; empty parts are left out."""
    return [part for each in value.split(",") if (part := each.strip())]
