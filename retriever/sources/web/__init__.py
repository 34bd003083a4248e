"""Shared parts of the sources on the network: rate limits, bounds, Boolean syntax, parsing of records."""
