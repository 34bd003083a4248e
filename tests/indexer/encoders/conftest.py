"""Models made once for all tests of a process."""

import pytest


@pytest.fixture(scope="session")
def library():
    """Import what encodes in this process.

    Not at the head of a file of tests: each process of pytest-xdist reads all of these.
    """
    import sentence_transformers

    return sentence_transformers


@pytest.fixture(scope="session")
def gte(tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_gte

    return tiny_gte(tmp_path_factory.mktemp("gte"), prompts={"query": "q: "})


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_bert

    return tiny_bert(tmp_path_factory.mktemp("bert"))
