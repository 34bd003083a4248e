"""Papers of an index: records, pages, citations, references."""
