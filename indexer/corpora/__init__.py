"""Papers of corpora: read, cleaned, chunked, and their texts in the form in which they are compared."""
