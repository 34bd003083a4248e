"""What tests of sources can count on."""

import pytest


@pytest.fixture(autouse=True)
def _hosts_not_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no server of an earlier test, which had the same port, be waited for."""
    monkeypatch.setattr("retriever.sources.web.client._rates", {})
