"""Settings that hold several values: separated by commas in a variable, a list in a file."""

from typing import Annotated

from pydantic import BeforeValidator


def joined(value: object) -> object:
    """Join a list of texts from a file with commas, the format of a variable."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(each, str) and "," not in each for each in value):
        raise ValueError("must be a list of texts without commas")
    return ",".join(value)


CommaList = Annotated[str, BeforeValidator(joined)]


def listed(value: str) -> list[str]:
    """Split a comma-separated setting; empty parts are left out."""
    return [part for each in value.split(",") if (part := each.strip())]
