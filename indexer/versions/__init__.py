"""Versions of an index: manifest, fingerprint, storage, and writers."""
