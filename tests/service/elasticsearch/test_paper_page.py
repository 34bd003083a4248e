"""The contract of a paper's page on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.papers.test_paper_page")

from tests.retriever.papers.test_paper_page import *  # noqa: E402, F403 - its tests and fixtures
