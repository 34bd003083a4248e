"""Harvesting of OAI-PMH repositories: the protocol, one list from page to page, and the harvested records."""
