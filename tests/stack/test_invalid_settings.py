"""Which errors of the settings' library are about settings."""

import pytest
from pydantic import ValidationError

from generator.conversation import StandaloneQuestion
from generator.settings import GeneratorSettings
from stack.invalid_settings import describe


def test_a_setting_that_does_not_fit_is_named(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__TIMEOUT_S", "soon")
    with pytest.raises(ValidationError) as caught:
        GeneratorSettings()
    assert (describe(caught.value) or "").startswith("SHRAG_LLM__TIMEOUT_S: ")


def test_what_a_model_replied_is_no_setting():
    with pytest.raises(ValidationError) as caught:
        StandaloneQuestion.model_validate({"depends": "강"})
    assert describe(caught.value) is None
