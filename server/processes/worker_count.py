"""The default number of server processes: one per core, or a single one.

Processes share the pages of an index, which is mapped into memory. A local model is loaded by each process, a
gigabyte or more. The rate limit of a service on the network is counted by each process.
"""

from collections.abc import Iterable

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import DeclaredSource
from retriever.sources.settings import WebSettings

MOST = 64


def default_workers(settings: IndexerSettings, sources: Iterable[DeclaredSource]) -> int:
    """Return the number of processes for the configured models and the offered sources."""
    loads_a_model = "local" in {settings.encoder.provider, settings.reranker.provider, settings.check.judge}
    asks_services = any(isinstance(source.settings, WebSettings) for source in sources)
    return 1 if loads_a_model or asks_services else min(usable_cores(), MOST)
