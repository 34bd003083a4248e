"""The contract of searches for passages on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.views.test_passage_search")

from tests.retriever.views.test_passage_search import *  # noqa: E402, F403 - its tests and fixtures
