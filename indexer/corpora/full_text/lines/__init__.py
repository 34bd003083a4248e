"""Lines of a PDF: reading order, removal of margins, and joining into paragraphs."""
