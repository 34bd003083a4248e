"""The embedded engine explains its scores as every engine does."""

import pytest

pytest.register_assert_rewrite("tests.retriever.explanation_contract")

from tests.retriever.explanation_contract import *  # noqa: E402, F403 - its tests and fixtures
