"""What the settings of every kind of source have in common; each kind's module adds its own."""

from pydantic import BaseModel, ConfigDict, Field


class SourceSettings(BaseModel):
    """A table `[sources.NAME]`; a kind's module inherits it as `Settings`.

    A field of the type `SecretStr` may be given by a variable alone, or by the path of a file: `api_key_file`
    beside `api_key`, which needs no field of its own.
    """

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: str = Field(description="what the source is: a module of retriever.sources")
    description: str = Field(
        default="", max_length=500, description="what it holds, for a model that chooses among sources"
    )
    timeout_s: float = Field(default=20, gt=0, le=600, description="seconds that all of one search may take")

    @property
    def longest_s(self) -> float:
        """Seconds that one call is waited for, whatever it consists of."""
        return self.timeout_s
