"""Writers of passages into an engine's index, a module per engine; `tantivy.py` describes their methods."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # the client of a cluster may not be installed
    from indexer.versions.writers.elasticsearch import ElasticsearchWriter
    from indexer.versions.writers.tantivy import TantivyWriter

    Writer: TypeAlias = TantivyWriter | ElasticsearchWriter
else:
    Writer = Any

VectorKey: TypeAlias = Any  # a passage in the engine: its number or its id
