"""A search request, and what the stages of its search share: the open index, the recorder."""
