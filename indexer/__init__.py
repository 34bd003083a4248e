"""Indexing: papers, readers, cleaning, chunking, analysis, schema, writers, ingest."""
