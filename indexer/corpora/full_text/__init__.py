"""Full papers: the pages of a PDF, or a text, as title, abstract, sections and references."""
