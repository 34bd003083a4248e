"""What a reader begins with on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.starting_contract")

from tests.retriever.starting_contract import *  # noqa: E402, F403 - its tests and fixtures
