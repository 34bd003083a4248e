"""The contract of facets on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.views.test_facets")

from tests.retriever.views.test_facets import *  # noqa: E402, F403 - its tests and fixtures
