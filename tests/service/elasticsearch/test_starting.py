"""What a reader begins with on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.opening.test_starting")

from tests.retriever.opening.test_starting import *  # noqa: E402, F403 - its tests and fixtures
