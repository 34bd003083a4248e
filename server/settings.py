"""How the server is reached and what it bears: `SHRAG_SERVER__…` or [server], read by the front end."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from indexer.settings import plain_address
from indexer.settings_sources import LayeredSettings


def _address_or_none(value: str) -> str:
    return plain_address(value) if value else ""


class ServerSettings(LayeredSettings):
    """Settings of the server; built once by `shrag serve` and passed down."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_SERVER__", frozen=True, hide_input_in_errors=True)

    host: str = Field(default="127.0.0.1", description="address that is listened at")
    port: int = Field(default=8080, ge=0, le=65_535, description="port; 0 = a free one")
    workers: int = Field(default=1, ge=1, le=64, description="processes that answer")
    open: bool = Field(default=False, description="answer everybody, without keys, at any address")
    public_url: Annotated[str, AfterValidator(_address_or_none)] = Field(
        default="",
        description="where readers reach the server, like https://search.example.org; none = as asked",
    )
    stop_s: float = Field(default=4.0, gt=0, le=600, description="seconds that open calls have when it stops")
