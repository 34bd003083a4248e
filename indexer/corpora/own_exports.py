"""Marks of the files that `--export` writes, by which their readers restore each record exactly."""

EXPORTER = "SHRAG"  # the database provider (DP) in RIS
