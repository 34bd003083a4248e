"""Versions of an index: manifest, fingerprint, where they are stored, and what writes them."""
