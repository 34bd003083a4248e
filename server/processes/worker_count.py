"""How many processes answer where no number is set: one for each core, or one where each would load a model.

Processes share the pages of an index, which is mapped into memory. An encoder or a cross-encoder is loaded by
each process for itself: a gigabyte or more, on a GPU too.
"""

from indexer.cores import usable_cores
from indexer.settings import IndexerSettings

MOST = 64


def default_workers(settings: IndexerSettings) -> int:
    """Return the number of processes for an engine and models."""
    loads_a_model = "local" in {settings.encoder.provider, settings.reranker.provider, settings.check.judge}
    return 1 if loads_a_model else min(usable_cores(), MOST)
