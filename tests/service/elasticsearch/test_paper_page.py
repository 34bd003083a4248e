"""The contract of a paper's page on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.paper_page_contract")

from tests.retriever.paper_page_contract import *  # noqa: E402, F403 - its tests and fixtures
