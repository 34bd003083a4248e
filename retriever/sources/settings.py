"""Settings of all sources, and of all services on the network; each kind's module adds its own."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from base.net.addresses import refuse_plain_http
from base.net.user_agent import valid_contact
from indexer.settings import BaseUrl, HeaderKey

SearchSeconds = Annotated[float, Field(gt=0, le=600, description="seconds for one search")]

# A service with another default keeps these checks.
Key = HeaderKey
Address = Annotated[BaseUrl, Field(description="address of the service")]
Contact = Annotated[
    str,
    AfterValidator(valid_contact),
    Field(description="e-mail or web address of the operator; sent with every request"),
]
Seconds = Annotated[float, Field(gt=0, le=600, description="seconds for one request")]
Rate = Annotated[float, Field(gt=0, le=100, description="requests per second to its host")]
AtOnce = Annotated[int, Field(ge=1, le=32, description="concurrent requests")]


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


class WebSettings(SourceSettings):
    """A service on the network: its address, the operator's contact, and its rate limit."""

    url: Address
    contact: Contact
    request_timeout_s: Seconds = 10
    retries: int = Field(default=2, ge=0, le=10, description="further requests after one that failed")
    requests_per_second: Rate = 1
    at_once: AtOnce = 4
    allow_plain_http: bool = Field(
        default=False, description="allow sending the key over http:// to another machine"
    )

    def secrets(self) -> tuple[SecretStr, ...]:
        """Return the secrets that no message may contain."""
        values: list[Any] = [getattr(self, name) for name in type(self).model_fields]
        return tuple(value for value in values if isinstance(value, SecretStr) and value.get_secret_value())

    @model_validator(mode="after")
    def _keep_secrets_from_listeners(self) -> Self:
        refuse_plain_http(self.url, secret=bool(self.secrets()), allowed=self.allow_plain_http)
        return self
