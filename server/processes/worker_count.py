"""How many processes answer where no number is set: one for each core, or one alone.

Processes share the pages of an index, which is mapped into memory. They share neither a model, a gigabyte or
more that each would load for itself, nor the rate at which a service on the network may be asked.
"""

from collections.abc import Iterable

from indexer.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import DeclaredSource
from retriever.sources.web.settings import WebSettings

MOST = 64


def default_workers(settings: IndexerSettings, sources: Iterable[DeclaredSource]) -> int:
    """Return the number of processes for the models in use and the sources that are offered."""
    loads_a_model = "local" in {settings.encoder.provider, settings.reranker.provider, settings.check.judge}
    asks_services = any(isinstance(source.settings, WebSettings) for source in sources)
    return 1 if loads_a_model or asks_services else min(usable_cores(), MOST)
