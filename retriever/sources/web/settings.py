"""Settings that all services on the network share."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from base.net.unencrypted_secrets import refuse_plain_http
from base.net.user_agent import valid_contact
from indexer.settings import BaseUrl, HeaderKey
from retriever.sources.settings import SourceSettings

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
