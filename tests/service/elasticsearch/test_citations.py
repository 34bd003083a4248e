"""The contract of the citation graph on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.papers.test_citations")

from tests.retriever.papers.test_citations import *  # noqa: E402, F403 - its tests and fixtures
