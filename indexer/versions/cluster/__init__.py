"""Elasticsearch clusters: connection, index definition, and versions of an index."""
