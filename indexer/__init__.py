"""Corpora in: papers, readers, cleaning, chunking, analysis, schema, writers, ingest."""
