"""Marks of the files that `--export` writes, by which their readers restore each record exactly."""

EXPORTER = "SHRAG"  # the database provider (DP) in RIS
BIBTEX_ID = "shrag-id"  # the field with the id, which a citation key may change
CSL_ID = "shrag-id"  # the key with the id among the custom values of CSL-JSON
