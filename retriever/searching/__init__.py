"""The stages of a search, from the request to the hits that are shown."""
