"""Files of a version: passages, checksums, SQLite files, and errors of reading or writing them."""
