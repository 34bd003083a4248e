"""Full papers: parsing of PDF pages or text into title, abstract, sections and references."""
