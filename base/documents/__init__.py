"""Documents of headings, paragraphs and tables, written as Word, Markdown or plain text."""
