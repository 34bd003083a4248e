"""Corpora to published indexes.

    manifest = build_index(IngestRequest(name="papers", paths=["corpus.jsonl"]), IndexerSettings())

`ingest.build_index` builds and publishes a version; `settings.IndexerSettings` has its options.
"""
