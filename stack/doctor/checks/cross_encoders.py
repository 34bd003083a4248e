"""Cross-encoders in this process: the re-ranker, and the model that checks answers."""

from collections.abc import Callable, Iterator

from base.errors import ResourceError
from indexer.settings import CheckSettings, RerankerSettings
from stack.doctor.findings import Examined, Finding, failed

PAIR = "resilience", "회복탄력성 resilience"


def check_cross_encoders(examined: Examined) -> Iterator[Finding]:
    """Open each configured model, and let it read one pair."""
    reranker, check = examined.settings.indexer.reranker, examined.settings.indexer.check
    if reranker.provider == "local":
        yield _opened("re-ranker", reranker, lambda: _rerank(reranker))
    if check.judge == "local":
        yield _opened("check of answers", check, lambda: _judge(check))


def _opened(subject: str, settings: RerankerSettings | CheckSettings, read: Callable[[], str]) -> Finding:
    configured = f"{settings.model}{'@' + settings.revision if settings.revision else ''}"
    try:
        return Finding(subject, "ok", read(), configured)
    except ResourceError as error:
        return failed(subject, error, configured, "see the message and docs/reference/settings.md")


def _rerank(settings: RerankerSettings) -> str:
    from indexer.encoders.cross_encoder import CrossEncoderReranker

    model = CrossEncoderReranker(settings)
    try:
        return f"a score of {model.scores(PAIR[0], PAIR[1:])[0]:.2f} for a sample"
    finally:
        model.close()


def _judge(settings: CheckSettings) -> str:
    from indexer.encoders.cross_encoder import EntailmentModel

    model = EntailmentModel(settings)
    try:
        return f"a sample is classified as {model.judge([PAIR])[0].relation}"
    finally:
        model.close()
