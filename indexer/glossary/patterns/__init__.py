"""Text patterns that contain a term in both languages, or with its abbreviation."""
