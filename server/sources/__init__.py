"""The sources that the server offers in addition to its indexes."""
