"""Settings that all kinds of sources share; each kind's module adds its own."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

SearchSeconds = Annotated[float, Field(gt=0, le=600, description="seconds for one search")]


class SourceSettings(BaseModel):
    """A table `[sources.NAME]`; each kind's module has a subclass `Settings`.

    A field of the type `SecretStr` can only be set by a variable, or by the path of a file: `api_key_file`
    for `api_key`, which needs no further field.
    """

    # Error messages never show the value, which may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: str = Field(description="index, elasticsearch, or a service on the network")
    description: str = Field(
        default="",
        max_length=500,
        description="content of the source in at most 500 characters, for a model that chooses among sources",
    )
    timeout_s: SearchSeconds = 20

    @property
    def longest_s(self) -> float:
        """Time limit of one call with all its requests, in seconds."""
        return self.timeout_s
