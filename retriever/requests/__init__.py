"""A search request, and the context that the stages of its search share."""
