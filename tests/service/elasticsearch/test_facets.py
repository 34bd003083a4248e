"""The contract of facets on a real cluster."""

import pytest

pytest.register_assert_rewrite("tests.retriever.facets_contract")

from tests.retriever.facets_contract import *  # noqa: E402, F403 - its tests and fixtures
