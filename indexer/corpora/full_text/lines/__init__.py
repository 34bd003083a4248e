"""Lines of a PDF in reading order, without margins, joined to paragraphs."""
