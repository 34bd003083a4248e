"""Files of a version: passages, checksums, SQLite files, and errors while they are read or written."""
