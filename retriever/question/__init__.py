"""Analysis of a question: words, weights, terms, other forms, synonyms."""
