"""An index opened for searching, its threads and models."""
