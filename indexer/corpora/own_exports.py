"""Marks of the files that `--export` writes, by which their readers restore each record exactly."""

import re

EXPORTER = "SHRAG"  # the database provider (DP) in RIS
BIBTEX_ID = "shrag-id"  # the field with the id, which a citation key may change
CSL_ID = "shrag-id"  # the key with the id among the custom values of CSL-JSON

# Columns of CSV, the last one after those of found papers.
CSV_COLUMNS = (
    *("id", "title", "title2", "authors", "year", "journal", "publisher", "keywords", "doi", "url", "lang"),
    *("abstract", "abstract2", "references", "cited_by_count", "source"),
)
CSV_FURTHER = "further"  # keys of the record that have no column, as JSON
CSV_SEPARATOR = "; "  # between the values of a list; a list that cannot be split at it is JSON
# Cells that a spreadsheet reads as a formula, also after quotes, get an apostrophe in front.
FORMULA = re.compile("[\"'\\s]*[=+\\-@＝＋－＠]")
