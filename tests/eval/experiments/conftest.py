"""The index of the sample, and a model of rules."""

import pytest

from tests.fixture_model import fixture_model


@pytest.fixture
def on_sample(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))


@pytest.fixture
def model(monkeypatch):
    """Serve the model of rules, whose failures are not retried."""
    with fixture_model() as variables:
        for name, value in {**variables, "SHRAG_LLM__RETRIES": "0"}.items():
            monkeypatch.setenv(name, value)
        yield
