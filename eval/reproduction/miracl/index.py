"""The index of a MIRACL corpus, built on first use.

Its name contains the hash of the corpus, so that an index with the name has the same input. An interrupted
build is resumed by the same command.
"""

from base.progress import Progress
from eval.reproduction.miracl.files import MiraclFiles
from indexer.ingest import IngestRequest, build_index, encode_passages
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import index_names

HASH_CHARACTERS = 12


def index_name(language: str, files: MiraclFiles) -> str:
    """Return the name of the index, such as miracl-ko-7f0c2f1b9a3e."""
    return f"miracl-{language}-{files.digest()[:HASH_CHARACTERS]}"


def made_index(language: str, files: MiraclFiles, settings: IndexerSettings, progress: Progress) -> str:
    """Build the index of the corpus unless there is one, with vectors if an encoder is configured.

    Returns its name. Raises as `build_index` and `encode_passages`.
    """
    name = index_name(language, files)
    if name not in index_names(settings):
        build_index(IngestRequest(name, list(map(str, files.corpus)), format="miracl"), settings, progress)
    elif settings.encoder.provider != "none":
        encode_passages(name, settings, progress)
    return name
