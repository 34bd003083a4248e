"""The contract of searches for passages on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.passage_search_contract")

from tests.retriever.passage_search_contract import *  # noqa: E402, F403 - its tests and fixtures
