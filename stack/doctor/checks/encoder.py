"""The encoder: loadable in this process, or an endpoint that returns vectors."""

from collections.abc import Iterator

from base.errors import ResourceError
from indexer.settings import EncoderSettings
from stack.doctor.findings import Examined, Finding, check_encryption

TEXT = "회복탄력성 resilience"


def check_encoder(examined: Examined) -> Iterator[Finding]:
    """Open the configured encoder and encode one text."""
    from indexer.encoders import open_encoder

    settings = examined.settings.indexer.encoder
    if settings.provider == "none":
        yield Finding(
            "provider",
            "not configured",
            "no vectors; candidates are ordered by words only",
            mend="SHRAG_ENCODER__PROVIDER=local (make install-models), or endpoint: docs/how-to/models.md",
        )
        return
    if settings.provider == "endpoint":
        yield from check_encryption(settings.base_url or "", secret=bool(settings.api_key))
    try:
        encoder = open_encoder(settings)
        if encoder is None:
            return
        try:
            vector = encoder.encode_queries([TEXT])[0]
        finally:
            encoder.close()
    except ResourceError as error:
        yield Finding(
            settings.provider,
            "wrong",
            f"{type(error).__name__}: {error}",
            configured=_configured(settings),
            mend="see the message; docs/how-to/models.md lists which server supports which checkpoint",
        )
        return
    mark = encoder.fingerprint
    yield Finding(
        settings.provider,
        "ok",
        f"{len(vector)} dimensions, {mark.pooling} pooling, {mark.max_tokens:,} tokens, {mark.storage}",
        configured=_configured(settings),
    )
    if settings.provider == "local" and not settings.revision:
        yield Finding(
            "revision",
            "warning",
            "not pinned",
            configured=settings.model,
            mend="set SHRAG_ENCODER__REVISION to a commit, so that all machines make the same vectors",
        )


def _configured(settings: EncoderSettings) -> str:
    at = f" at {settings.base_url}" if settings.base_url else ""
    return f"{settings.model}{'@' + settings.revision if settings.revision else ''}{at}"
