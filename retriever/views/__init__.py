"""Views of an index and its searches: facets, plans, nearest passages, why nothing was found."""
