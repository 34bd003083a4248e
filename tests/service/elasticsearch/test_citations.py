"""The contract of the citation graph on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.citations_contract")

from tests.retriever.citations_contract import *  # noqa: E402, F403 - its tests and fixtures
