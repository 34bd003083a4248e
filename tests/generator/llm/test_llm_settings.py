"""Settings of a language model: from the environment, and refused without showing them."""

import pytest
from pydantic import ValidationError

from generator.settings import GeneratorSettings
from tests.generator.language_model import (
    settings,
)


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__BASE_URL", "http://localhost:8000/v1/")
    monkeypatch.setenv("SHRAG_LLM__MODEL", "tiny-writer")
    monkeypatch.setenv("SHRAG_LLM__API_KEY", "sk-river-123\n")
    monkeypatch.setenv("SHRAG_LLM__TIMEOUT_S", "7.5")
    monkeypatch.setenv("SHRAG_LLM__SEED", "")
    llm = GeneratorSettings().llm
    assert (llm.base_url, llm.model, llm.timeout_s, llm.seed) == (
        "http://localhost:8000/v1",
        "tiny-writer",
        7.5,
        0,
    )
    assert llm.api_key
    assert llm.api_key.get_secret_value() == "sk-river-123"
    assert "sk-river" not in repr(llm) + llm.model_dump_json()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"base_url": "localhost:8000"}, "must begin with http:// or https://"),
        ({"base_url": "http://reader:secret@model.test/v1"}, "must not contain a name or password"),
        ({"api_key": "secret secret"}, "must be ASCII without white space"),
        ({"api_key": "secret", "allow_plain_http": False}, "unencrypted to model.test: use https://"),
        ({"model": None}, "set SHRAG_LLM__MODEL"),
        ({"timeout_s": "nan"}, "finite"),
        ({"timout_s": 1}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_work_are_refused_without_showing_them(changed, said):
    with pytest.raises(ValidationError) as caught:
        settings(**changed)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
