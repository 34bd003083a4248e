"""What mends an error is a value that each front end words."""

import subprocess
import sys

import pytest

from base.errors import InvalidCall, Remedy
from base.remedies import describe_error
from indexer.errors import IndexMismatch
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store


def test_an_error_says_in_words_what_the_command_line_says_by_commands():
    error = IndexMismatch("why", remedy=(Remedy.REBUILD, "set back"), index="papers")

    assert str(error) == f"why; {Remedy.REBUILD.value}, or set back"
    command = "(shrag index PATH --name papers --rebuild)"
    assert describe_error(error) == f"why; {Remedy.REBUILD.value} {command}, or set back"


@pytest.mark.parametrize("remedy", Remedy)
def test_the_command_line_has_a_command_for_each_remedy(remedy):
    assert describe_error(IndexMismatch("why", remedy=remedy)).startswith(f"why; {remedy.value} (")


def test_an_unknown_engine_is_refused_with_those_there_are(tmp_path):
    settings = IndexerSettings(home=tmp_path).model_copy(update={"engine": "lucene"})

    with pytest.raises(InvalidCall, match=r"'lucene'.*tantivy, elasticsearch"):
        open_store(settings, "papers")


WITHOUT_CLIENT = """
import sys
sys.modules["elasticsearch"] = None
sys.argv = ["shrag", "indexes", "list"]
import shrag
shrag.main()
"""


def test_a_missing_client_is_a_missing_library_with_what_installs_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLIENT],
        env={"SHRAG_ENGINE": "elasticsearch", "SHRAG_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("LibraryMissing: ")
    assert done.stderr.endswith("`make install-elasticsearch` (pip: the extra `elasticsearch`)\n")
