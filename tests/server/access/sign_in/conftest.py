"""A provider at which persons sign in, one for each module."""

import pytest

from tests.server.access.sign_in.openid_provider import providing


@pytest.fixture(scope="module")
def provider():
    with providing() as provider:
        yield provider
