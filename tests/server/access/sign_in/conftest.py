"""A home with the sample for persons who sign in, and their provider; one for each module."""

import pytest

from tests.generator.sample_index import NAME
from tests.server.access.sign_in.openid_provider import providing


@pytest.fixture(scope="module")
def home(sample_home, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / NAME).symlink_to(sample_home / NAME)
    return home


@pytest.fixture(scope="module")
def provider():
    with providing() as provider:
        yield provider
