"""The sources that the server offers beside its indexes."""
